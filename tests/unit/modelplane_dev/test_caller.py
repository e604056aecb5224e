"""The caller that counts answers takes none for a broken connection."""

import socket
import threading
import time

from modelplane_dev.plane.gateways.requests import Caller

#: Characters of a prompt that fits into no buffer of a connection.
LONG = 20_000_000


def _answer_early(listener: socket.socket) -> None:
    """Answer a request after its head, and close the connection while its body is being sent, as Envoy does."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
        time.sleep(0.1)  # until the caller has filled the buffers: what is not read resets the connection


def test_an_answer_before_the_whole_request_was_sent_counts_as_what_it_says() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = threading.Thread(target=_answer_early, args=(listener,))
        answering.start()
        address, port = listener.getsockname()
        assert Caller(f"http://{address}:{port}", prompt="x" * LONG).chat() == (401, "")
        answering.join()
