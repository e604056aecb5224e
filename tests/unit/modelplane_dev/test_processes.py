"""No process outlives the local control plane, and `make up` runs one of them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modelplane_dev.plane.examples import CLUSTERS
from modelplane_dev.plane.up import apply_cuts, cut, down, join, up
from modelplane_dev.plane.waiting import PlaneError, eventually, only_one
from modelplane_dev.processes.background import Background
from modelplane_dev.processes.process import Process, ProcessError

#: A program that runs one component, whose log begins with its process id, and goes on. It minds SIGINT, which a shell
#: lets what it starts in the background ignore.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from modelplane_dev.processes.process import Process
with Process("sleeps", Path(sys.argv[1]), ["bash", "-c", "echo $$; exec sleep 600"]):
    time.sleep(600)
"""
#: A name that no other run of this test on the machine has.
HELD = f"modelplane-one-holder-test-{os.getpid()}"
#: Seconds for what processes of this machine do at once, where it is not busy.
PATIENCE = 120.0
SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")
#: Writes a file, whole, and goes on.
READY = """
import sys, time
from pathlib import Path
ready = Path(sys.argv[1])
ready.with_suffix(".new").write_text("Try")
ready.with_suffix(".new").rename(ready)
time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "up"


@pytest.fixture
def keeper(folder: Path) -> Iterator[Background]:
    """Give a keeper that is ready at once and keeps nothing; it does not outlive the test."""
    made = Background(folder, (sys.executable, "-c", READY, str(folder / "ready")))
    yield made
    made.stop()


def _exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_component_outlives_the_program_that_started_it(tmp_path: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    log = tmp_path / "sleeps.log"

    def started() -> int:
        assert log.exists()
        assert log.read_text().endswith("\n")
        return int(log.read_text())

    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as program:
        component = eventually(started, within=PATIENCE)
        assert _exists(component)
        program.send_signal(number)

    def gone() -> None:
        assert not _exists(component)

    eventually(gone, within=PATIENCE)


@pytest.mark.parametrize(("script", "output"), [("echo broken; exit 3", "broken"), ("sleep 600", "longer than 0.5 s")])
def test_a_component_that_fails_or_takes_too_long_is_reported_and_ended(
    tmp_path: Path, script: str, output: str
) -> None:
    component = Process("fails", tmp_path, ["bash", "-c", script])
    with pytest.raises(ProcessError, match=output):
        component.run(within=0.5 if "sleep" in script else PATIENCE)
    assert not component.alive


def test_one_machine_has_one_holder_of_a_name_at_a_time() -> None:
    for _ in range(2):
        with only_one(HELD, within=0), pytest.raises(PlaneError, match="in use"), only_one(HELD, within=0):
            pass


def test_up_starts_once_and_says_the_same_again_and_down_ends_it(
    keeper: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (down(keeper), capsys.readouterr().err) == (0, "Nothing runs.\n")
    assert [up(keeper), up(keeper)] == [0, 0]
    printed = capsys.readouterr()
    assert printed.out == "Try\nTry\n"
    assert printed.err.count("Starting") == 1
    assert down(keeper) == 0
    assert not keeper.running
    assert down(keeper) == 0
    assert capsys.readouterr().err.endswith("Nothing runs.\n")


def test_up_that_is_interrupted_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = Background(folder, SLEEP)

    def interrupted(_: Background, **__: float) -> bool:
        assert keeper.running
        raise KeyboardInterrupt

    monkeypatch.setattr(Background, "wait", interrupted)
    assert up(keeper) == 1
    assert not keeper.running
    assert "Not started" in capsys.readouterr().err


def test_up_that_ends_too_early_says_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert up(Background(folder, (sys.executable, "-c", "raise SystemExit('port 9443 is taken')"))) == 1
    assert "port 9443 is taken" in capsys.readouterr().err


def test_a_cluster_that_is_cut_off_has_no_api_server_until_it_is_joined_again(
    keeper: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {name: Process(name, tmp_path, ["sleep", "600"]) for name in CLUSTERS}
    assert up(keeper) == 0
    with servers[CLUSTERS[0]], servers[CLUSTERS[1]]:
        assert cut(keeper, CLUSTERS[0]) == 0
        apply_cuts(keeper.folder, servers)
        assert [server.alive for server in servers.values()] == [False, True]
        assert join(keeper, CLUSTERS[0]) == 0
        apply_cuts(keeper.folder, servers)
        assert [server.alive for server in servers.values()] == [True, True]
    assert f"make join CLUSTER={CLUSTERS[0]}" in capsys.readouterr().out


@pytest.mark.parametrize("verb", [cut, join])
def test_a_cluster_is_cut_off_and_joined_only_where_it_runs(
    keeper: Background, capsys: pytest.CaptureFixture[str], verb: Callable[[Background, str], int]
) -> None:
    assert (verb(keeper, CLUSTERS[0]), capsys.readouterr().err) == (1, "Nothing runs. Start it with: make up\n")
    assert up(keeper) == 0
    capsys.readouterr()
    assert verb(keeper, "") == 2
    assert f"CLUSTER={CLUSTERS[0]}" in capsys.readouterr().err


def test_commands_run_side_by_side_to_their_ends_and_the_first_that_fails_is_the_exit_code() -> None:
    program = (sys.executable, "-m", "modelplane_dev.processes.beside")
    # The first is told by the second, which has failed by then.
    waits = "one=sh -c 'until test -e told; do sleep 0.05; done; echo late; exit 3'"
    with tempfile.TemporaryDirectory() as folder:
        command = [*program, waits, "two=sh -c 'echo early; touch told; exit 4'"]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    said = {name: [line for line in lines[:4] if line.startswith(name)] for name in ("one", "two")}
    assert [line.split(" after ")[0] for line in said["one"]] == ["one | late", "one | failed"]
    assert [line.split(" after ")[0] for line in said["two"]] == ["two | early", "two | failed"]
    # Once more at the end, where whoever sees nothing else looks: the last lines of each, in the order given.
    assert lines[4:] == [*said["one"], *said["two"]]
