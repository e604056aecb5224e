"""Messages that resemble one another are kept in a tenth of their size."""

import hashlib

from golden import read_documents
from modelplane.lru import weigh
from modelplane.transport.compression import _MOST, Compressor
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


def test_messages_that_resemble_one_another_share_one_dictionary() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_message(name)) for name in ("a", "b", "c")]
    assert len({id(each.dictionary) for each in kept}) == 1
    assert len(compressor.compress(b"x" * 1_000_000).dictionary.content) <= 32 * 1024


def test_a_dictionary_is_forgotten_with_the_last_message_that_needs_it() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_unlike(seed)) for seed in range(3)]
    assert len(compressor._dictionaries) == 3
    del kept[1]
    assert len(compressor._dictionaries) == 2


def test_there_are_few_dictionaries_and_new_ones_once_old_ones_are_forgotten() -> None:
    compressor = Compressor()
    kept = [compressor.compress(_unlike(seed)) for seed in range(2 * _MOST)]
    assert [each.read() for each in kept] == [_unlike(seed) for seed in range(2 * _MOST)]
    assert len({id(each.dictionary) for each in kept}) <= _MOST
    message = _message("late")
    del kept[:_MOST]
    kept.append(compressor.compress(message))
    assert len(compressor.compress(_message("another")).content) < len(message) / 10


def test_dictionaries_take_3_mib_at_the_most_whatever_the_messages() -> None:
    short = [b"".join(b"\n%d" % (seed * 100_000 + part) for part in range(10_000)) for seed in range(_MOST)]
    compressor = Compressor()
    kept = [compressor.compress(message + _unlike(seed)) for seed, message in enumerate(short)]
    taken = sum(len(each.content) + weigh(each.entries) for each in {one.dictionary for one in kept})
    assert taken <= 3 * 1024 * 1024
