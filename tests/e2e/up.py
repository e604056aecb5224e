"""`make up` and `make down`: the control planes of the end-to-end tests, kept running for a person."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click

import engines
from e2e.examples import CLUSTERS, apply_fleet, apply_team
from e2e.harness.control_plane import control_plane
from e2e.harness.process import HarnessError

FOLDER = engines.ROOT / "build" / "up"
PID, READY, LOG = FOLDER / "pid", FOLDER / "ready", FOLDER / "log"
#: Seconds that everything may take to come up or to end.
PATIENCE = 300.0


def running() -> int | None:
    """Return the process id of what `make up` started, None when it does not run."""
    if not PID.exists():
        return None
    pid = int(PID.read_text())
    command = Path(f"/proc/{pid}/cmdline")
    return pid if command.exists() and b"e2e.up" in command.read_bytes() else None


def up() -> int:
    """Start everything in the background and say how to use it; return the exit code."""
    if running():
        click.echo(READY.read_text() if READY.exists() else "It is starting already; its log is build/up/log.")
        return 0
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    click.echo("Starting a control cluster and two inference clusters (about a minute) ...", err=True)
    with LOG.open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "e2e.up", "keep"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    PID.write_text(str(keeper.pid))
    deadline = time.monotonic() + PATIENCE
    while not READY.exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            click.echo(LOG.read_text()[-2000:], err=True)
            return 1
        time.sleep(0.2)
    click.echo(READY.read_text())
    return 0


def down() -> int:
    """End what `up` started; return the exit code."""
    pid = running()
    if pid is None:
        click.echo("Nothing runs.", err=True)
        return 0
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while running():
        if time.monotonic() > deadline:
            return 1
        time.sleep(0.2)
    click.echo("Stopped. The logs stay in build/up.", err=True)
    return 0


def keep() -> int:
    """Run everything until SIGTERM; return the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with control_plane(FOLDER / "run", sites=CLUSTERS) as plane:
        apply_fleet(plane)
        apply_team(plane)
        unfinished = FOLDER / ".ready"
        unfinished.write_text(_welcome({cluster.name: cluster.kubeconfig() for cluster in plane.clusters}))
        unfinished.rename(READY)
        signal.pause()
    return 0


def _welcome(kubeconfigs: dict[str, Path]) -> str:
    hub, first = kubeconfigs["hub"], kubeconfigs[CLUSTERS[0]]
    lines = [f"{name}: {path}" for name, path in kubeconfigs.items()]
    kubectl = engines.path("kubectl")
    return "\n".join(
        [
            "Kubeconfigs:",
            *(f"  {line}" for line in lines),
            "Try:",
            f"  alias k='{kubectl} --kubeconfig {hub}'",
            "  k get inferenceclusters",
            "  k apply -f examples/deployments/qwen3-8b.yaml",
            "  k get modeldeployments,modelreplicas,modelendpoints -n ml",
            "  k scale modeldeployment/qwen3-8b -n ml --replicas=2",
            f"  {kubectl} --kubeconfig {first} get pods,resourceclaims -A -o wide",
            "End it with: make down",
        ]
    )


if __name__ == "__main__":
    try:
        sys.exit({"up": up, "down": down, "keep": keep}[sys.argv[1]]())
    except HarnessError as error:
        sys.exit(f"up: {error}")
