"""How fake servers of JSON over HTTP answer."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


def answer(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    """Answer the request of a handler with a status and a body."""
    answer_text(handler, status, "application/json", json.dumps(body))


def answer_text(handler: BaseHTTPRequestHandler, status: int, content_type: str, text: str) -> None:
    """Answer the request of a handler with a status and a text of a type."""
    data = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
