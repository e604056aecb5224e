"""The program as the Job starts it: killed at any moment it is finished by the next run, and its exit code says why."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from modelplane.model.staging import HydrateExit
from unit.hydrate.fake_hub import Answer, FakeHub, content, serving

_MAIN = "from modelplane.cli import main; main()"
FILES = {"config.json": b"{}", "a.safetensors": content(1, 400_000), "b/c.safetensors": content(2, 150_001)}
KILLS = 20


def start(hub: FakeHub, target: Path, *arguments: str, token: str = "") -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        _MAIN,
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


def test_killed_twenty_times_at_random_it_ends_with_every_byte_in_place(tmp_path: Path) -> None:
    chance, marker = random.Random(20), tmp_path / ".modelplane" / "staged.json"  # noqa: S311 - no secret
    with serving(FILES) as hub:
        for _ in range(KILLS):
            doomed: list[subprocess.Popen[str]] = []
            started, left = threading.Event(), [chance.randrange(1, 5)]

            def strike(
                path: str,
                answer: Answer,
                doomed: list[subprocess.Popen[str]] = doomed,
                started: threading.Event = started,
                left: list[int] = left,
            ) -> Answer:
                if "/resolve/" not in path:
                    return answer
                left[0] -= 1
                if left[0] == 0:
                    started.wait()
                    threading.Timer(chance.uniform(0, 0.02), doomed[0].kill).start()
                return answer[0], answer[1], answer[2][: 1 + len(answer[2]) // 40]

            hub.mishap = strike
            doomed.append(start(hub, tmp_path))
            started.set()
            doomed[0].communicate()
            assert doomed[0].returncode == -signal.SIGKILL
            assert not marker.exists()
        hub.mishap = lambda _, answer: answer
        last = start(hub, tmp_path)
        _, said = last.communicate()
    assert (last.returncode, marker.exists()) == (0, True), said
    assert tree(tmp_path) == FILES


def test_a_refusal_is_told_with_what_it_means_and_never_with_the_token(tmp_path: Path) -> None:
    with serving(FILES, token="right") as hub:  # noqa: S106 - a fake's
        refused = start(hub, tmp_path, token="wrong-token")  # noqa: S106 - a fake's
        _, said = refused.communicate()
    assert refused.returncode == HydrateExit.REFUSED
    assert HydrateExit.REFUSED.meaning in said
    assert "wrong-token" not in said


def test_how_far_it_is_is_told(tmp_path: Path) -> None:
    with serving(FILES) as hub:
        done = start(hub, tmp_path, "--revision=main")
        _, said = done.communicate()
        assert f"at commit {hub.branch}: 3 files" in said
    assert "537 KiB" in said
    assert done.returncode == 0
