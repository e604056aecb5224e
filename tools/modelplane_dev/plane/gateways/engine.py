"""A fake engine, shaped like OpenAI's API: `python -m ... HOST PORT NAME`. Its answers say which one it is, `NAME`.

It waits as many seconds before an answer as the request's header X-Wait says.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Words of a streamed answer, and the seconds between two of them.
_WORDS = ("This", " is", " an", " answer", ".")
_PAUSE = 0.2
#: What an answer has cost.
_USAGE = {"usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}


class Engine(BaseHTTPRequestHandler):
    """Answers chat completions, whole or streamed, and the list of models."""

    protocol_version = "HTTP/1.1"
    # Head and body of an answer go out together, and at once.
    wbufsize = -1
    disable_nagle_algorithm = True
    name = ""

    def do_GET(self) -> None:
        """Answer the list of models."""
        if self.path == "/v1/models":
            self._answer(200, {"object": "list", "data": [{"id": "example/model", "object": "model"}]})
        else:
            self._answer(404, {"error": {"message": f"no {self.path}", "code": "not_found"}})

    def do_POST(self) -> None:
        """Answer a chat."""
        self.path, _, _ = self.path.partition("?")
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._answer(404, {"error": {"message": f"no {self.path}", "code": "not_found"}})
            return
        time.sleep(float(self.headers.get("X-Wait", "0")))
        if asked.get("stream"):
            self._stream(asked)
        else:
            message = {"role": "assistant", "content": "".join(_WORDS)}
            self._answer(200, self._completion("chat.completion", asked["model"], message=message) | _USAGE)

    def _completion(self, kind: str, model: str, **choice: Any) -> dict[str, Any]:
        whole = {"id": "chatcmpl-1", "object": kind, "created": 0, "model": model, "system_fingerprint": self.name}
        seen = {name.lower(): value for name, value in self.headers.items()}
        return {**whole, "choices": [{"index": 0, "finish_reason": None, **choice}], "headers": seen}

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, asked: dict[str, Any]) -> None:
        model = asked["model"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in _WORDS:
            self._chunk(json.dumps(self._completion("chat.completion.chunk", model, delta={"content": word})))
            time.sleep(_PAUSE)
        if asked.get("stream_options", {}).get("include_usage"):
            self._chunk(
                json.dumps(self._completion("chat.completion.chunk", model, delta={}) | {"choices": []} | _USAGE)
            )
        self._chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing: it takes thousands of requests."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


def main(host: str, port: str, name: str) -> None:
    """Answer for ever."""
    Engine.name = name
    _Server((host, int(port)), Engine).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
