"""The program as the Job starts it: killed at any moment it is finished by the next run, and its exit code says why."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from modelplane.hydrate import HydrateSettings, hydrate
from modelplane.hydrate.hub import Hub
from modelplane.model.staging import HydrateExit
from unit.hydrate.fake_hub import Answer, FakeHub, content, serving

_MAIN = "from modelplane.cli import main; main()"
#: Writes at most so many bytes to a file: a volume that is full.
_FULL = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); {_MAIN}"
FILES = {"config.json": b"{}", "a.safetensors": content(1, 400_000), "b/c.safetensors": content(2, 150_001)}
#: How often the program is killed, and how many answers it gets at the most once the time of its death is set: it needs
#: hundreds, and must not end before, however late it is killed.
KILLS, MOST = 20, 20


def start(hub: FakeHub, target: Path, *arguments: str, token: str = "", program: str = _MAIN) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        program,
        "hydrate",
        "--repo=org/model",
        f"--target={target}",
        "--pause=0",
        *arguments,
    ]
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": token}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def tree(target: Path) -> dict[str, bytes]:
    files = [path for path in target.rglob("*") if path.is_file() and ".modelplane" not in path.parts]
    return {str(path.relative_to(target)): path.read_bytes() for path in files}


class Strike:
    """A mishap: every answer ends early, and soon after one of the first few the program is killed."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._left = chance, chance.randrange(1, 5)
        self._started, self._gone = threading.Event(), threading.Event()

    def kill(self, doomed: subprocess.Popen[str]) -> None:
        """Wait until the program is killed."""
        self._doomed = doomed
        self._started.set()
        doomed.communicate()
        self._gone.set()

    def __call__(self, path: str, answer: Answer) -> Answer:
        if "/resolve/" not in path:
            return answer
        self._left -= 1
        if self._left == 0:
            self._started.wait()
            threading.Timer(self._chance.uniform(0, 0.02), self._doomed.kill).start()
        if self._left < -MOST:
            self._gone.wait()
        return answer[0], answer[1], answer[2][: 1 + len(answer[2]) // 40]


def test_killed_twenty_times_at_random_it_ends_with_every_byte_in_place(tmp_path: Path) -> None:
    chance, marker = random.Random(20), tmp_path / ".modelplane" / "staged.json"  # noqa: S311 - no secret
    with serving(FILES) as hub:
        for _ in range(KILLS):
            hub.mishap = strike = Strike(chance)
            doomed = start(hub, tmp_path)
            strike.kill(doomed)
            assert doomed.returncode == -signal.SIGKILL
            assert not marker.exists()
        hub.mishap = lambda _, answer: answer
        last = start(hub, tmp_path)
        _, output = last.communicate()
    assert (last.returncode, marker.exists()) == (0, True), output
    assert tree(tmp_path) == FILES


def refuse(status: int, code: str, part: str = "/api/", words: str = "") -> dict[str, Any]:
    headers = {"X-Error-Message": words or f"fake: {code}", "Retry-After": "0"}
    headers |= {"X-Error-Code": code} if code else {}
    return {"mishap": lambda path, answer: (status, headers, b"") if part in path else answer}


def page(path: str, answer: Answer) -> Answer:
    """Answer as a proxy that wants its user to log in."""
    return (200, {"Content-Type": "text/html"}, b"<html>" * 1000) if "/api/" in path else answer


LARGE = FILES["a.safetensors"]
#: What the hub does, how the program is started, how it ends, and what it says of it.
ENDS: dict[str, tuple[dict[str, Any], dict[str, Any], HydrateExit, str]] = {
    "401": ({"token": "right"}, {"token": "wrong-token"}, HydrateExit.REFUSED, "401: fake: GatedRepo"),
    "403": (refuse(403, "GatedRepo"), {}, HydrateExit.REFUSED, "403: fake: GatedRepo"),
    "an unfit token": ({}, {"token": "wrong-token\nx"}, HydrateExit.REFUSED, "not one line"),
    "401 of a repository that is not there": (refuse(401, "RepoNotFound"), {}, HydrateExit.NOT_FOUND, "401: fake"),
    "401 to a wrong token": (
        refuse(401, "", words="Invalid credentials in Authorization header"),
        {"token": "wrong-token"},
        HydrateExit.REFUSED,
        "401: Invalid credentials",
    ),
    "404 of the repository": (refuse(404, "RepoNotFound"), {}, HydrateExit.NOT_FOUND, "404: fake: RepoNotFound"),
    "404 of the revision": (refuse(404, "RevisionNotFound"), {}, HydrateExit.NOT_FOUND, "404: fake: RevisionNotFound"),
    "404 of a file": (refuse(404, "EntryNotFound", "c.safetensors"), {}, HydrateExit.NOT_FOUND, "b/c.safetensors: 404"),
    "429": (refuse(429, "TooMany", "/resolve/"), {}, HydrateExit.AGAIN, "429: fake: TooMany"),
    "500": (refuse(500, "Broken", "/resolve/"), {}, HydrateExit.AGAIN, "500: fake: Broken"),
    "503": (refuse(503, "Busy"), {}, HydrateExit.AGAIN, "503: fake: Busy"),
    "another server's page": ({"mishap": page}, {}, HydrateExit.AGAIN, "JSONDecodeError"),
    "as many other bytes": ({"given": {"a.safetensors": content(9, len(LARGE))}}, {}, HydrateExit.CORRUPT, "3 times"),
    "fewer bytes": ({"given": {"a.safetensors": LARGE[:-1]}}, {}, HydrateExit.CORRUPT, "3 times"),
    "more bytes": ({"given": {"a.safetensors": b"#" + LARGE}}, {}, HydrateExit.CORRUPT, "3 times"),
    "a full volume": ({}, {"program": _FULL}, HydrateExit.DISK_FULL, "File too large"),
}


@pytest.mark.parametrize(("mishaps", "how", "code", "words"), ENDS.values(), ids=ENDS)
def test_a_run_that_cannot_finish_says_why_marks_nothing_and_the_next_finishes_it(
    mishaps: dict[str, Any], how: dict[str, Any], code: HydrateExit, words: str, tmp_path: Path
) -> None:
    with serving(FILES, **mishaps) as hub:
        ended = start(hub, tmp_path, "--tries=2", **how)
        _, output = ended.communicate()
        assert ended.returncode == code, output
        assert words in output
        assert code.meaning in output
        assert "wrong-token" not in output
        assert "Traceback" not in output
        assert not (tmp_path / ".modelplane" / "staged.json").exists()
        assert len([path for path in hub.asked if "/api/models/" in path]) <= (2 if code is HydrateExit.AGAIN else 1)
        hub.mishap, hub.given = (lambda _, answer: answer), {}
        hydrate(HydrateSettings("org/model", "", tmp_path, Hub(hub.url, hub.token), print, pause=0))
    assert tree(tmp_path) == FILES


def test_a_volume_that_refuses_files_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".modelplane").write_text("in the way")
    with serving(FILES) as hub:
        ended = start(hub, tmp_path)
        _, output = ended.communicate()
    assert (ended.returncode, HydrateExit.UNWRITABLE.meaning in output, "Traceback" in output) == (74, True, False)


def test_the_first_process_of_a_container_ends_at_once_on_a_signal(tmp_path: Path) -> None:
    asked, gate = threading.Event(), threading.Event()

    def hang(path: str, answer: Answer) -> Answer:
        if "/resolve/" in path:
            asked.set()
            gate.wait(60)
        return answer

    with serving(FILES, mishap=hang) as hub:
        running = start(hub, tmp_path)
        assert asked.wait(60)
        running.terminate()
        running.communicate()
        gate.set()
        assert running.returncode == 128 + signal.SIGTERM


def test_progress_is_printed(tmp_path: Path) -> None:
    with serving(FILES) as hub:
        done = start(hub, tmp_path, "--revision=main")
        _, output = done.communicate()
        assert f"at commit {hub.branch}: 3 files" in output
    assert "537 KiB" in output
    assert done.returncode == 0


def test_it_resolves_into_a_file_and_downloads_nothing_then(tmp_path: Path) -> None:
    report, target = tmp_path / "termination-log", tmp_path / "volume"
    target.mkdir()
    with serving(FILES) as hub:
        with start(hub, target, "--revision=main", f"--resolve={report}") as program:
            assert program.wait(60) == HydrateExit.STAGED
        assert report.read_text() == hub.branch
        assert tree(target) == {}
        commit = hub.branch
        hub.push({"config.json": b"other"})
        with start(hub, target, "--revision=main", f"--commit={commit}") as program:
            assert program.wait(60) == HydrateExit.STAGED
    assert tree(target) == FILES
