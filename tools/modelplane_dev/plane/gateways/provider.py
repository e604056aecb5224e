"""A fake external provider: `python -m ... HOST PORT FOLDER`. It has OpenAI's API under another root, and a key.

What reaches it is written to a file of the folder, a line of JSON for each request. It answers with the status that
another file of the folder holds, if that is there.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from modelplane_dev.plane.gateways.engine import Engine, Server

#: Its root, the key that it takes, and how it calls its only model.
ROOT: Final = "/openai/v1"
KEY: Final = "sk-of-the-provider"
MODEL: Final = "vendor/model-large"
#: The files of its folder.
REQUESTS: Final = "requests"
STATUS: Final = "status"


class Provider(Engine):
    """Answers as an engine does, to who has its key and names its model."""

    name = "provider"
    folder = Path()

    def _reply(self, asked: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        with (self.folder / REQUESTS).open("a") as requests:
            requests.write(json.dumps({"path": self.path, "headers": headers, "model": asked.get("model")}) + "\n")
        fixed = self.folder / STATUS
        if fixed.exists():
            self._answer(int(fixed.read_text()), {"error": {"message": "as it was told", "code": "told"}})
        elif headers.get("authorization") != f"Bearer {KEY}":
            self._answer(401, {"error": {"message": "no such key", "code": "invalid_api_key"}})
        elif asked.get("model") != MODEL or not self.path.startswith(ROOT):
            self._answer(404, {"error": {"message": f"no {asked.get('model')} at {self.path}", "code": "not_found"}})
        else:
            self.path = f"/v1{self.path.removeprefix(ROOT)}"
            super()._reply(asked)


def main(host: str, port: str, folder: str) -> None:
    """Answer for ever."""
    Provider.folder = Path(folder)
    Server((host, int(port)), Provider).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
