"""How fake servers of JSON over HTTP answer."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


def answer(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    """Answer the request of a handler with a status and a body."""
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
