"""A fake of external providers: `python -m ... ADDRESS FOLDER`. It has OpenAI's API under any root and any host.

It serves HTTP, and HTTPS with the pair in the folder. Its responses say which host was called. It writes each request
to a file of the folder, as a line of JSON. If a file of the folder has the name of a host, it responds there with the
status that the file contains.
"""

import json
import ssl
import sys
import threading
from pathlib import Path
from typing import Any, Final

from modelplane_dev.plane.gateways.engine import Engine, Server
from modelplane_dev.plane.json_answers import answer

HTTP_PORT: Final = 8000
_HTTPS_PORT: Final = 443
#: The files of its folder.
REQUESTS: Final = "requests"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


class Provider(Engine):
    """Responds as an engine does, whatever precedes /v1 in the path."""

    folder = Path()

    def do_GET(self) -> None:  # noqa: N802 - as http.server calls it
        """Answer the list of models."""
        self._record(None)
        super().do_GET()

    def _reply(self, asked: dict[str, Any]) -> None:
        self._record(asked.get("model"))
        fixed = self.folder / self.name
        if fixed.exists():
            answer(self, int(fixed.read_text()), {"error": {"message": "as it was told", "code": "told"}})
        else:
            super()._reply(asked)

    def _record(self, model: str | None) -> None:
        """Record the request, and reduce its path to the part that an engine knows."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.name = headers["host"]
        with (self.folder / REQUESTS).open("a") as requests:
            requests.write(json.dumps({"path": self.path, "headers": headers, "model": model}) + "\n")
        _, _, api = self.path.rpartition("/v1/")
        self.path = f"/v1/{api}"


def main(address: str, folder: str) -> None:
    """Answer for ever."""
    Provider.folder = Path(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(Provider.folder / CERTIFICATE, Provider.folder / KEY)
    secured = Server((address, _HTTPS_PORT), Provider)
    # The handshake is done in the thread of its connection: it must not keep others waiting.
    secured.socket = context.wrap_socket(secured.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=secured.serve_forever, daemon=True).start()
    Server((address, HTTP_PORT), Provider).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
