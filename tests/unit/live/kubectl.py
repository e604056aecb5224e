"""A kubectl of the tests: it serves the answers of a file on a socket, or prints them, and notes what it was asked."""

import json
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

#: answers.json: by path with its query (without limit), a list of [status, body] of which each is given once, the last
#: one for ever. `words`: what it prints on standard error first; `later`: what it prints
#: there at each request; `code`: what it exits with, instead of serving; `printed`: what an edit prints.
FOLDER = Path(sys.argv[0]).parent


def answer(target: str) -> tuple[int, Any]:
    """Return the next answer to a path, and take it out."""
    answers = json.loads((FOLDER / "answers.json").read_text())
    parts = urlsplit(target)
    asked = dict(parse_qsl(parts.query))
    with (FOLDER / "asked").open("a") as asked_file:
        asked_file.write(f"{target}\n")
    further = asked.get("continue", "")
    kind = "?watch" if asked.get("watch") else f"?{further}" if further else ""
    found = answers.get(parts.path + kind, [[404, {"message": f"no {parts.path}{kind}"}]])
    if len(found) > 1:
        answers[parts.path + kind] = found[1:]
        (FOLDER / "answers.json").write_text(json.dumps(answers))
    status, body = found[0]
    return status, body


class Handler(BaseHTTPRequestHandler):
    """Answers a request as the file says; a list is sent as the lines of a watch."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        status, body = answer(self.path)
        if later := json.loads((FOLDER / "given.json").read_text()).get("later"):
            sys.stderr.write(f"{later}\n")
        text = body if isinstance(body, str) else json.dumps(body)
        if isinstance(body, list):
            text = "".join(json.dumps(each) + "\n" for each in body)
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self) -> str:
        """Return nothing: a Unix socket has no address."""
        return ""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def main() -> int:
    """Do what kubectl does with these arguments."""
    given = json.loads((FOLDER / "given.json").read_text())
    arguments = [each for each in sys.argv[1:] if not each.startswith(("--context", "--kubeconfig", "--as"))]
    with (FOLDER / "commands").open("a") as commands:
        commands.write(json.dumps(sys.argv[1:]) + "\n")
    if arguments[0] == "config":
        sys.stdout.write(given.get("namespace", ""))
        return 0
    if given.get("words"):
        sys.stderr.write(f"{given['words']}\n")
    if given.get("code"):
        return int(given["code"])
    if arguments[0] == "proxy":
        socket = arguments[1].removeprefix("--unix-socket=")
        (FOLDER / "socket").write_text(f"{socket} {oct(Path(socket).parent.stat().st_mode)[-3:]}")
        with ThreadingUnixStreamServer(socket, Handler) as server:
            server.daemon_threads = True
            sys.stdout.write(f"Starting to serve on {socket}\n")
            sys.stdout.flush()
            server.serve_forever()
    if arguments[0] in ("apply", "patch"):
        sys.stdout.write(given.get("printed", ""))
        return 0
    if arguments[:2] == ["get", "--raw"]:
        status, body = answer(arguments[2])
        reason = {403: "Forbidden", 404: "NotFound", 410: "Expired"}.get(status)
        if status >= 400:
            sys.stderr.write(f"Error from server ({reason}): {body['message']}\n")
            return 1
        sys.stdout.write(json.dumps(body))
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
