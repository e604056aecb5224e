"""Sends chats to a service over one connection, which is opened again when it breaks."""

import contextlib
import http.client
import json
import urllib.parse
from dataclasses import dataclass, field

#: What stands for a status if the connection broke before a response began, and if it broke within one.
BROKEN, CUT = 0, 1
#: Seconds that an answer may take, of 50 MiB on a machine that does much else too.
PATIENCE = 300.0
#: What the fake engines serve.
MODEL = "example/model"


def body_of(model: str = MODEL, prompt: str = "Hello") -> str:
    """Return the body of a chat."""
    return json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}]})


@dataclass(slots=True)
class Caller:
    """A caller of the service at a URL, or of a model at the fleet's, always with the same prompt and key."""

    url: str
    model: str = MODEL
    prompt: str = "Hello"
    key: str = ""
    _path: str = field(init=False)
    _body: str = field(init=False)
    _connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        """Define the connection; the first request opens it."""
        parts = urllib.parse.urlsplit(self.url)
        self._path = f"{parts.path}/v1/chat/completions"
        self._body = body_of(self.model, self.prompt)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)

    def chat(self) -> tuple[int, str]:
        """Return the status of a response, or what stands for it, and the engine that sent it, "" for none."""
        status = BROKEN
        try:
            # Who is answered before the whole request was read may find the connection closed, and reads the answer.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                headers = {"Content-Type": "application/json"}
                headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
                self._connection.request("POST", self._path, self._body, headers)
            answer = self._connection.getresponse()
            status = CUT
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return status, ""
        engine = json.loads(body)["system_fingerprint"] if answer.status == http.HTTPStatus.OK else ""
        return answer.status, engine
