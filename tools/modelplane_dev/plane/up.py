"""`make up` and `make down`: the local control plane, kept running for a person."""

import signal
import sys
from pathlib import Path

import click

from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.control_plane import control_plane
from modelplane_dev.plane.examples import CLUSTERS, apply_fleet, apply_team
from modelplane_dev.plane.waiting import PlaneError
from modelplane_dev.processes.background import Background
from modelplane_dev.processes.process import ProcessError

KEEPER = Background(ROOT / "build" / "up", (sys.executable, "-m", "modelplane_dev.plane.up", "keep"))
#: Seconds that everything may take to come up.
PATIENCE = 300.0


def up(keeper: Background) -> int:
    """Start everything in the background unless it runs, and say how to use it; return the exit code."""
    started = not keeper.running
    if started:
        click.echo("Starting a control cluster and two inference clusters (about a minute) ...", err=True)
        keeper.start()
    try:
        ready = keeper.wait(within=PATIENCE)
    except KeyboardInterrupt:
        ready = False
    if not ready:
        if started:
            keeper.stop()
        click.echo(
            f"{keeper.log.read_text()[-2000:]}Not started; {keeper.log} and the files beside it say more.", err=True
        )
        return 1
    click.echo(keeper.ready.read_text())
    return 0


def down(keeper: Background) -> int:
    """End what `up` started; return the exit code."""
    if not keeper.running:
        click.echo("Nothing runs.", err=True)
        return 0
    keeper.stop()
    click.echo(f"Stopped. The logs stay in {keeper.folder}.", err=True)
    return 0


def keep(keeper: Background) -> int:
    """Run everything until SIGTERM; return the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with control_plane(keeper.folder / "run", sites=CLUSTERS, queue=0) as plane:
        apply_fleet(plane)
        apply_team(plane)
        unfinished = keeper.folder / ".ready"
        unfinished.write_text(_welcome({cluster.name: cluster.kubeconfig() for cluster in plane.clusters}))
        unfinished.rename(keeper.ready)
        signal.pause()
    return 0


def _welcome(kubeconfigs: dict[str, Path]) -> str:
    hub, first = kubeconfigs["hub"], kubeconfigs[CLUSTERS[0]]
    lines = [f"{name}: {path}" for name, path in kubeconfigs.items()]
    kubectl = components.path("kubectl")
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
            "  k describe modeldeployment/qwen3-8b -n ml",
            f"  {kubectl} --kubeconfig {first} get pods,resourceclaims -A -o wide",
            "Kubelets, engines and gateways are fakes (tools/modelplane_dev/plane/fakes.py): no request is answered.",
            "End it with: make down",
        ]
    )


if __name__ == "__main__":
    try:
        sys.exit({"up": up, "down": down, "keep": keep}[sys.argv[1]](KEEPER))
    except (PlaneError, ProcessError) as error:
        sys.exit(f"up: {error}")
