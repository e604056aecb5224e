"""Responses of fake servers of JSON over HTTP."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


def answer(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    """Send the response to a handler's request: a status and a body."""
    answer_text(handler, status, "application/json", json.dumps(body))


def answer_text(handler: BaseHTTPRequestHandler, status: int, content_type: str, text: str, **headers: str) -> None:
    """Send the response to a handler's request: a status, a text of a content type, and other headers."""
    data = text.encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
