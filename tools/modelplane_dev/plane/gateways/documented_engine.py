"""A fake of an engine that behaves as its documentation says: `python -m ... NAME ADDRESS PACE TITLE`.

NAME is that of an engine in `plane.engines`, ADDRESS what stands for all addresses of its pod. It listens and loads as
that engine does, PACE times as fast, and answers then with OpenAI's API and its `TITLE`, as `engine` does. Its
container comes as JSON from the standard input. With the variable `CRASHES` it writes a long log instead, then what
that says, and ends with an error, as an engine does that finds a library or a GPU missing.
"""

import json
import os
import sys
import time
from typing import Any, Final

from modelplane_dev.plane.engines import ALL, DOCUMENTED, DocumentedEngine
from modelplane_dev.plane.gateways.engine import Engine, Server
from modelplane_dev.plane.json_answers import answer

CRASHES: Final = "CRASHES"
#: The lines that an engine writes before it ends, more than a kubelet reports.
_LINES: Final = 200


class Documented(Engine):
    """Answers as the engine does at the time."""

    engine: DocumentedEngine
    started = 0.0
    pace = 1.0

    def do_GET(self) -> None:  # noqa: N802 - as http.server calls it
        """Answer whether the engine is well, or as any engine."""
        status = self._status(self.path)
        if status == 200 and self.path == "/v1/models":
            super().do_GET()
        else:
            answer(self, status, {"status": status})

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        """Answer a chat, once the model is loaded."""
        if self._status("/v1/models") == 200:
            super().do_POST()
        else:
            answer(self, 503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})

    def _status(self, path: str) -> int:
        return self.engine.answer(path, (time.monotonic() - self.started) * self.pace)


def main(name: str, address: str, pace: str, title: str) -> int:
    """Answer for ever, or crash."""
    started = time.monotonic()
    container: dict[str, Any] = json.load(sys.stdin)
    if words := os.environ.get(CRASHES):
        for number in range(_LINES):
            print(f"INFO loading, step {number} of {_LINES}", flush=True)
        print(words, file=sys.stderr, flush=True)
        return 1
    engine = DOCUMENTED[name]
    Documented.engine, Documented.started, Documented.pace, Documented.name = engine, started, float(pace), title
    host, port = engine.listens_at(container)
    time.sleep(max(0.0, engine.listens / Documented.pace - (time.monotonic() - started)))
    Server((address if host == ALL else host, port), Documented).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
