"""Messages that resemble one another are kept in a tenth of their size."""

from modelplane.transport.compression import Compressor
from modelplane.transport.structs import encode
from unit.compose_replica.replicas import replica, serving


def _message(name: str) -> bytes:
    body = replica()
    body["metadata"]["name"] = name
    observed = serving(body)
    return b"".join(map(encode, observed.values()))


def test_every_message_is_read_as_it_was() -> None:
    compressor = Compressor()
    messages = [b"", b"short", _message("a"), _message("b"), b"x" * 100_000, _message("a")]
    for kind in ("one", "two"):
        assert [compressor.compress(kind, each).read() for each in messages] == messages


def test_a_message_that_resembles_the_first_of_its_kind_takes_a_tenth() -> None:
    compressor = Compressor()
    compressor.compress("replica", _message("first-of-all"))
    message = _message("another")
    assert len(message) > 4096
    assert len(compressor.compress("replica", message).content) < len(message) / 10


def test_the_messages_of_a_kind_share_one_dictionary() -> None:
    compressor = Compressor()
    kept = [compressor.compress("replica", _message(name)) for name in ("a", "b", "c")]
    assert len({id(each.dictionary) for each in kept}) == 1
    assert len(compressor.compress("large", b"x" * 1_000_000).dictionary) == 32 * 1024
