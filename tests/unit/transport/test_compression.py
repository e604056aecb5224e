"""Messages that resemble one another are kept in a tenth of their size."""

import hashlib

import pytest

from golden import read_documents
from modelplane.lru import weigh
from modelplane.transport.compression import _MOST, Compressed, Compressor, count_messages
from modelplane.transport.structs import encode
from unit.compose_replica.replicas import TOPOLOGIES, replica, run


def _message(name: str, topology: str = "") -> bytes:
    """Return what a replica composes, as one message."""
    (body,) = read_documents(TOPOLOGIES[topology]) if topology else [replica()]
    body["metadata"]["name"] = name
    return b"".join(encode(desired.build()) for desired in run(body).desired.values())


def _unlike(seed: int) -> bytes:
    """Return a message of which no part is in another one."""
    return b"".join(hashlib.sha256(b"%d %d" % (seed, part)).digest() for part in range(128))


def test_every_message_is_read_as_it_was() -> None:
    compressor = Compressor()
    messages = [b"", b"short", _message("a"), _message("b"), b"x" * 100_000, _unlike(1), _message("a")]
    for _ in range(2):
        assert [compressor.compress(each).read() for each in messages] == messages


def test_a_message_that_resembles_one_before_takes_a_tenth_whatever_came_between() -> None:
    compressor = Compressor()
    names = sorted(TOPOLOGIES)
    first = [compressor.compress(_message("first-of-all", name)) for name in names]
    assert len(first) == 4
    for name in names * 2:
        message = _message("another", name)
        assert len(message) > 4096
        assert len(compressor.compress(message).content) < len(message) / 10, name


def test_messages_that_resemble_one_another_share_one_dictionary_from_the_second_on() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_message(name)) for name in ("a", "b", "c", "d")]
    assert len({id(each.dictionary) for each in kept[1:]}) == 1
    assert compressor.compress(b"x" * 1_000_000).content


def test_a_message_that_resembles_none_takes_no_dictionary() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_unlike(seed)) for seed in range(2 * _MOST)]
    assert len({id(each.dictionary) for each in kept}) == 1
    assert len(compressor._dictionaries) == 0


def _pairs(compressor: Compressor, count: int, each: int = 2) -> list[Compressed]:
    """Return messages of so many structures, of which no two resemble one another, `each` of every one."""
    return [compressor.compress(_unlike(seed) + b"%d" % number) for seed in range(count) for number in range(each)]


def test_a_dictionary_is_forgotten_with_the_last_message_that_needs_it() -> None:
    compressor = Compressor()
    kept = _pairs(compressor, 3)
    assert len(compressor._dictionaries) == 3
    del kept[3]
    assert len(compressor._dictionaries) == 2


@pytest.mark.parametrize("each", [1, 2, 5], ids="{} of each".format)
def test_as_many_strangers_as_there_are_places_take_none_from_a_structure_of_which_there_are_more(each: int) -> None:
    compressor = Compressor()
    strangers = _pairs(compressor, _MOST, each)
    kept = [compressor.compress(_message(f"replica-{number}")) for number in range(each + 20)]
    length = len(_message("replica-0"))
    assert all(len(one.content) < length / 10 for one in kept[each + 2 :])
    again = _pairs(compressor, 4 * _MOST, each)
    assert [one.read() for one in kept] == [_message(f"replica-{number}") for number in range(each + 20)]
    assert len(compressor._dictionaries) <= _MOST
    read = [one.read() for one in (*strangers, *again)]
    wanted = [_unlike(seed) + b"%d" % n for count in (_MOST, 4 * _MOST) for seed in range(count) for n in range(each)]
    assert all(found in (None, message) for found, message in zip(read, wanted, strict=True))


def test_the_messages_of_a_dictionary_are_counted() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_message(f"replica-{number}")) for number in range(12)]
    (known,) = [[*compressor._dictionaries]]
    assert count_messages(known, 0) == 11
    del kept[5:]
    assert count_messages(known, 0) == 4


def test_dictionaries_take_3_mib_at_the_most_whatever_the_messages() -> None:
    short = [b"".join(b"\n%d" % (seed * 100_000 + part) for part in range(10_000)) for seed in range(2 * _MOST)]
    compressor = Compressor()
    kept = [
        compressor.compress(message + b"\n%d" % number)
        for each in (2, 3)
        for message in short
        for number in range(each)
    ]
    found = {one.dictionary for one in kept}
    assert len(compressor._dictionaries) == _MOST
    taken = sum(len(each.content or b"") + weigh(each.entries) for each in found)
    assert taken <= 3 * 1024 * 1024
