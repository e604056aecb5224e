"""Ports that are given out before anything listens on them."""

import socket

import pytest

from modelplane_dev.processes import ports


def test_no_port_is_given_out_twice_in_a_row() -> None:
    given = [ports.free_port() for _ in range(200)]
    assert len(set(given)) == 200


def test_a_port_that_something_holds_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        taken, other = held.getsockname()[1], ports.free_port()
        monkeypatch.setattr(ports, "_CANDIDATES", iter([taken, other]))
        assert ports.free_port() == other


def test_whether_something_listens_is_answered() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not ports.listens(port)
        server.listen()
        assert ports.listens(port)
