"""A fake engine with OpenAI's API: `python -m ... HOST PORT NAME [MODEL...]`. Its responses contain its `NAME`.

Like vLLM it refuses a model that it does not serve (404); without a MODEL it serves every one.
The request's header X-Status has it answer with a status, and Retry-After, as JSON or, with ` text` behind it, as text.
It waits as many seconds before an answer as the request's header X-Wait says, or until the caller hangs up, and after
each word of a streamed one as X-Pauses says, numbers with commas between them, or until the process gets SIGUSR1. Its
metrics, called as vLLM's are, count the requests that wait before their answer.
"""

import base64
import json
import select
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import Any

from modelplane_dev.plane.json_answers import answer, answer_text

#: Words of a streamed response, and the default seconds after each.
_WORDS = ("This", " is", " an", " answer", ".")
_PAUSE = 0.2
#: The embedding of every input.
_VECTOR = (0.25, -0.5, 1.0)
#: Seconds after which it may be asked again, as it says where it was told to fail.
RETRY_AFTER = "7"
#: The metrics that an endpoint picker reads of an engine.
_METRICS = """\
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting {waiting}
# TYPE vllm:gpu_cache_usage_perc gauge
vllm:gpu_cache_usage_perc 0
# TYPE vllm:lora_requests_info gauge
vllm:lora_requests_info{{max_lora="0",running_lora_adapters="",waiting_lora_adapters=""}} 1
"""


#: The paths of what engines keep for a caller.
_KEPT = ("/v1/files", "/v1/batches")
#: The fields that a request must have, by path.
_FIELDS = {
    "/v1/chat/completions": frozenset({"model", "messages"}),
    "/v1/embeddings": frozenset({"model", "input"}),
}


class Engine(BaseHTTPRequestHandler):
    """Answers chat completions, whole or streamed, embeddings and the list of models.

    A token is a character of a prompt, and a word of an answer.
    """

    protocol_version = "HTTP/1.1"
    # Send head and body of a response together, without delay.
    wbufsize = -1
    disable_nagle_algorithm = True
    name = ""
    models: tuple[str, ...] = ()
    waiting = 0
    #: No word of a stream is waited for any more.
    hurried = threading.Event()
    _counting = threading.Lock()

    def do_GET(self) -> None:
        """Answer the list of models, the one that is in it, or the metrics."""
        models = {each: {"id": each, "object": "model"} for each in self.models or ("example/model",)}
        _, _, name = self.path.partition("/v1/models/")
        if self.path == "/metrics":
            answer_text(self, 200, "text/plain; version=0.0.4", _METRICS.format(waiting=Engine.waiting))
        elif self.path == "/v1/models":
            answer(self, 200, {"object": "list", "data": [*models.values()]})
        elif name in models:
            answer(self, 200, models[name])
        elif self.path.startswith(_KEPT):
            self.do_DELETE()
        else:
            answer(self, 404, {"error": {"message": f"no {self.path}", "code": "not_found"}})

    def do_DELETE(self) -> None:
        """Answer with what was asked of a file or a batch."""
        answer(self, 200, {"method": self.command, "path": self.path, "system_fingerprint": self.name})

    def do_POST(self) -> None:
        """Answer a chat."""
        self.path, _, _ = self.path.partition("?")
        body = b"".join(self._body())
        status, _, kind = self.headers.get("X-Status", "").partition(" ")
        if status:
            told = json.dumps({"error": {"message": "as it was told", "code": "told"}})
            content_type = "text/plain" if kind else "application/json"
            answer_text(self, int(status), content_type, told, **{"Retry-After": RETRY_AFTER})
            return
        kind = self.headers.get_content_type()
        if kind == "multipart/form-data":
            spoken = {"text": "This is a transcript.", "type": kind, "bytes": len(body), "name": self.name}
            answer(self, 200, spoken | {"method": self.command, "path": self.path})
            return
        try:
            asked = json.loads(body)
        except ValueError:
            asked = None
        needed = _FIELDS.get(self.path, frozenset())
        if isinstance(asked, dict) and needed <= asked.keys():
            if self.models and self.path not in _KEPT and asked.get("model") not in self.models:
                words = f"The model `{asked.get('model')}` does not exist."
                answer(self, 404, {"error": {"message": words, "type": "NotFoundError", "param": "model", "code": 404}})
                return
            self._reply(asked)
        else:
            words = f"the body has to be JSON with the fields {', '.join(sorted(needed))}"
            answer(self, 400, {"error": {"message": words, "code": "invalid"}})

    def _body(self) -> Iterator[bytes]:
        """Yield the parts of the body, which comes in chunks if an endpoint picker has read it before."""
        if "Content-Length" in self.headers:
            yield self.rfile.read(int(self.headers["Content-Length"]))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _reply(self, asked: dict[str, Any]) -> None:
        """Send the response for the path."""
        self._wait(float(self.headers.get("X-Wait", "0")))
        if self.path == "/v1/embeddings":
            self._embed(asked)
        elif self.path in _KEPT:
            self.do_DELETE()
        elif self.path != "/v1/chat/completions":
            answer(self, 404, {"error": {"message": f"no {self.path}", "code": "not_found"}})
        elif asked.get("stream"):
            self._stream(asked)
        else:
            message = {"role": "assistant", "content": "".join(_WORDS)}
            whole = self._completion("chat.completion", asked["model"], message=message)
            answer(self, 200, whole | _usage(asked) | self._transfer(asked))

    def _transfer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return what an engine of a pair answers by NIXL: where its KV cache is, or whose it has fetched.

        One of SGLang returns where it has been told to meet the other.
        """
        if "bootstrap_host" in asked:
            return {"bootstrap": f"{asked['bootstrap_host']}:{asked['bootstrap_port']}"}
        transfer = asked.get("kv_transfer_params") or {}
        if transfer.get("do_remote_decode"):
            place = {"remote_engine_id": self.name, "remote_block_ids": [0], "remote_host": "pod", "remote_port": 5557}
            return {"kv_transfer_params": {"do_remote_prefill": True, "do_remote_decode": False, **place}}
        return {"prefilled_by": transfer["remote_engine_id"]} if transfer.get("do_remote_prefill") else {}

    def _wait(self, seconds: float) -> None:
        """Delay the response, and count the request meanwhile."""
        if seconds:
            self._count(1)
            # The request has been read, so that there is nothing but the end of the connection.
            select.select([self.connection], [], [], seconds)
            self._count(-1)

    @staticmethod
    def _count(more: int) -> None:
        with Engine._counting:
            Engine.waiting += more

    def _embed(self, asked: dict[str, Any]) -> None:
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        found = [{"object": "embedding", "index": at, "embedding": _vector(asked)} for at in range(len(texts))]
        usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
        answer(self, 200, {"object": "list", "data": found, "model": asked["model"], "usage": usage})

    def _completion(self, kind: str, model: str, **choice: Any) -> dict[str, Any]:
        whole = {"id": "chatcmpl-1", "object": kind, "created": 0, "model": model, "system_fingerprint": self.name}
        seen = {name.lower(): value for name, value in self.headers.items()}
        return {**whole, "choices": [{"index": 0, "finish_reason": None, **choice}], "headers": seen}

    def _stream(self, asked: dict[str, Any]) -> None:
        model = asked["model"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pauses = [float(each) for each in self.headers.get("X-Pauses", "").split(",") if each]
        for word, pause in zip(_WORDS, chain(pauses, repeat(_PAUSE)), strict=False):
            self._chunk(json.dumps(self._completion("chat.completion.chunk", model, delta={"content": word})))
            self.hurried.wait(pause)
        if asked.get("stream_options", {}).get("include_usage"):
            last = self._completion("chat.completion.chunk", model) | {"choices": []}
            self._chunk(json.dumps(last | _usage(asked)))
        self._chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing: there are thousands of requests."""


def _usage(asked: dict[str, Any]) -> dict[str, Any]:
    prompt = sum(len(message["content"]) for message in asked["messages"])
    counts = {"prompt_tokens": prompt, "completion_tokens": len(_WORDS), "total_tokens": prompt + len(_WORDS)}
    return {"usage": counts}


def _vector(asked: dict[str, Any]) -> list[float] | str:
    """Return the embedding; clients of OpenAI's API request it as base64 of its numbers."""
    if asked.get("encoding_format") != "base64":
        return list(_VECTOR)
    return base64.b64encode(struct.pack(f"<{len(_VECTOR)}f", *_VECTOR)).decode()


class Server(ThreadingHTTPServer):
    """Accepts requests, each in a thread."""

    request_queue_size = 1024
    daemon_threads = True
    # One that listens on every address of a network may run beside those of single pods, which take precedence.
    allow_reuse_port = True


def main(host: str, port: str, name: str, *models: str) -> None:
    """Answer for ever."""
    Engine.name, Engine.models = name, models
    signal.signal(signal.SIGUSR1, lambda *_: Engine.hurried.set())
    Server((host, int(port)), Engine).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
