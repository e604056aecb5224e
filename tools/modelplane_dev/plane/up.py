"""`make up`, `make down`, `make cut` and `make join`: the local control plane, kept running for its user."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import click

from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.control_plane import INFERENCE_CLUSTER, ControlPlane, control_plane
from modelplane_dev.plane.examples import (
    CLUSTERS,
    TEAM,
    TRIED,
    apply_fleet,
    apply_service,
    apply_team,
    example_models,
    page_deployments,
    tried_deployment,
)
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.live import ADDRESS, LiveGateways, live_gateways
from modelplane_dev.plane.gateways.observer import observer
from modelplane_dev.plane.pods import NOT_FOUND
from modelplane_dev.plane.waiting import PlaneError, eventually
from modelplane_dev.processes.background import Background
from modelplane_dev.processes.process import Process, ProcessError

#: Its folder; a test has one of its own.
FOLDER = Path(os.environ.get("MODELPLANE_UP") or ROOT / "build" / "up")
KEEPER = Background(FOLDER, (sys.executable, "-m", "modelplane_dev.plane.up", "keep"))
#: Seconds that everything may take to come up.
PATIENCE = 600.0
#: The deployment, and the ModelService over it, that docs/try.md tries.
SERVED = "try"
#: Files with the deployments of the pages on services, and of docs/try.md, in the folder of what runs.
PAGES, TRY = "pages.yaml", "try.yaml"
#: Seconds between two readings of what the gateway has ejected, as in an installation.
PAUSE = 5.0
#: Seconds between two checks of which clusters are to be cut off.
PULSE = 0.5


def up(keeper: Background) -> int:
    """Start everything in the background unless it runs, and print how to use it; return the exit code."""
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


def keep(keeper: Background) -> NoReturn:
    """Run everything until SIGTERM, which exits with 0."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with control_plane(keeper.folder / "run", sites=CLUSTERS, queue=0) as plane, ExitStack() as stack:
        # Network namespaces take root.
        gateways = stack.enter_context(live_gateways(plane, CLUSTERS)) if os.geteuid() == 0 else None
        apply_fleet(plane)
        apply_team(plane)
        url = _serve(plane, gateways) if gateways else None
        if gateways:
            stack.enter_context(observer(gateways.public, ADDRESS, every=PAUSE))
        for file, text in ((PAGES, page_deployments()), (TRY, tried_deployment())):
            (keeper.folder / file).write_text(text)
        unfinished = keeper.folder / ".ready"
        unfinished.write_text(_welcome({cluster.name: cluster.kubeconfig() for cluster in plane.clusters}, url))
        unfinished.rename(keeper.ready)
        servers = {
            name: site.processes["api_server"] for name, site in zip(CLUSTERS, plane.sites.values(), strict=True)
        }
        while True:
            apply_cuts(keeper.folder, servers)
            time.sleep(PULSE)


def _serve(plane: ControlPlane, gateways: LiveGateways) -> str:
    """Run the public gateway and fake engines, create a service, and return its base URL on this machine."""
    gateways.open_sites()

    def named() -> None:
        for name in CLUSTERS:
            found = plane.hub.api.get(INFERENCE_CLUSTER, name) or {}
            assert found.get("status", {}).get("gateway", {}).get("hostname"), name

    eventually(named, within=PATIENCE)
    gateways.open_public()
    gateways.open_router()  # Without it the InferenceGateway does not become Ready.
    for site in gateways.sites.values():
        site.run_engine_for_all(POD_ADDRESSES, *example_models())
    apply_service(plane, SERVED)
    gateways.public.network.lead_here(ADDRESS)
    return f"http://{gateways.public.reach(f'{ADDRESS}:80')}/{TEAM}/{SERVED}/v1"


def apply_cuts(folder: Path, servers: Mapping[str, Process]) -> None:
    """Stop the API server of each cluster that is to be cut off, and start those of the others again."""
    for name, server in servers.items():
        cut = _cut_file(folder, name).exists()
        if cut and server.alive:
            server.stop()
        elif not cut and not server.alive:
            server.start()


def cut(keeper: Background, name: str) -> int:
    """Cut a cluster off from the control cluster; return the exit code."""
    if code := _refuse(keeper, name):
        return code
    _cut_file(keeper.folder, name).touch()
    click.echo(f"The API server of {name} is stopped; its pods run on. Reach it again with: make join CLUSTER={name}")
    return 0


def join(keeper: Background, name: str) -> int:
    """Make a cluster that was cut off reachable again; return the exit code."""
    if code := _refuse(keeper, name):
        return code
    _cut_file(keeper.folder, name).unlink(missing_ok=True)
    click.echo(f"The API server of {name} runs.")
    return 0


def _cut_file(folder: Path, name: str) -> Path:
    """Return the file that exists while a cluster is to be cut off."""
    return folder / f"cut-{name}"


def _refuse(keeper: Background, name: str) -> int:
    """Return an exit code if no such cluster runs, and print why; 0 if it runs."""
    if not keeper.running:
        click.echo("Nothing runs. Start it with: make up", err=True)
        return 1
    if name not in CLUSTERS:
        click.echo(f"There is no cluster {name!r}; there are {' and '.join(CLUSTERS)}: CLUSTER={CLUSTERS[0]}", err=True)
        return 2
    return 0


def _welcome(kubeconfigs: dict[str, Path], url: str | None) -> str:
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
            f"  make cut CLUSTER={CLUSTERS[0]}, and back: make join CLUSTER={CLUSTERS[0]}",
            f"An image with the tag {NOT_FOUND} cannot be pulled. docs/try.md tries what can go wrong.",
            *_about_requests(url),
            "End it with: make down",
        ]
    )


def _about_requests(url: str | None) -> list[str]:
    """Return how to send requests; `url` is the base URL for clients, None if no gateway runs."""
    fakes = "are fakes (tools/modelplane_dev/plane/fakes.py)"
    if not url:
        return [f"Kubelets, engines and gateways {fakes}: no request is answered. As root, gateways are real."]
    chat = f"""--json '{{"model": "{TRIED}", "messages": [{{"role": "user", "content": "Hello"}}]}}'"""
    return [
        f"Kubelets and engines {fakes}. ModelService {TEAM}/{SERVED} answers on this machine at {url}",
        f"once ModelDeployment {TEAM}/{SERVED} of docs/try.md serves: k apply -f {KEEPER.folder / TRY}",
        f"  curl {url}/chat/completions {chat}",
        f"The URLs of the pages on services begin with http://{ADDRESS}, which leads to the gateway on this machine.",
        f"Their deployments: k apply -f {KEEPER.folder / PAGES}",
    ]


def main(verb: str, *cluster: str) -> int:
    """Carry out a target of the Makefile; return the exit code."""
    if cluster:
        return {"cut": cut, "join": join}[verb](KEEPER, *cluster)
    return {"up": up, "down": down, "keep": keep}[verb](KEEPER)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (PlaneError, ProcessError) as error:
        sys.exit(f"up: {error}")
