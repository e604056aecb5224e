"""An edit reaches replicas that serve without taking the model down, and an upgrade of Modelplane restarts nothing."""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.kube.pod import STARTUP_SECONDS
from modelplane.model.rollout import BUILDER
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Manifest, condition
from modelplane_dev.plane.control_plane import DEPLOYMENT, ControlPlane
from modelplane_dev.plane.crossplane import FUNCTIONS
from modelplane_dev.plane.pods import NOT_FOUND
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: Seconds that a bad edit is watched for after it is named: several passes at the shortest response TTL.
WATCHED = 40.0


def _engine(image: str) -> dict[str, Any]:
    found = engine(8)
    found["members"][0]["template"]["spec"]["containers"][0]["image"] = f"registry.example.org/engine:{image}"
    return found


def _roll(fleet: Fleet, image: str) -> None:
    fleet.plane.hub.api.patch(DEPLOYMENT, "llama", {"spec": {"engines": [_engine(image)]}}, fleet.tag)


def _serving(fleet: Fleet, clusters: Iterable[str] = ()) -> Mapping[str, str]:
    """Return the names of the pods that are Ready, and the tag of the image that each runs, on some or all clusters.

    They are asked one after the other, in this order.
    """
    pods = [pod for cluster in clusters or fleet.clusters for pod in fleet.pods(cluster)]
    return {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"].rpartition(":")[2]
        for pod in pods
        if condition(pod, "Ready").get("status") == "True"
    }


def _three_replicas(fleet: Fleet, *, east: int, west: int) -> Mapping[str, str]:
    """Deploy three replicas of a node each onto two clusters of so many nodes; return the pods that serve."""
    for site, nodes in (("east", east), ("west", west)):
        fleet.add_cluster(site, nodes=nodes)
    fleet.deploy("llama", engines=[_engine("v1")], replicas=3)
    fleet.wait_ready("llama")
    return _serving(fleet)


def _wait_rolled(fleet: Fleet, image: str, *, at_least: int) -> None:
    """Wait until all replicas serve an image, and assert that so many serve at each moment until then."""
    first, *others = fleet.clusters

    def rolled() -> None:
        # While the others are asked, one of the first's may have begun to serve and one of theirs, for it, ended.
        some = _serving(fleet, (first, *others, first))
        if len(some) < at_least:
            raise RuntimeError(f"only {some} serve: {fleet.deployment('llama').get('status')}")
        serving = _serving(fleet)
        assert sorted(serving.values()) == [image] * 3, serving
        fleet.assert_condition(fleet.deployment("llama"), "RolloutProgressing", "False", "RolloutComplete")
        assert fleet.counts("llama") == (3, 3)

    eventually(rolled, within=SOON, every=0.2)


def _named(fleet: Fleet) -> None:
    """Assert that the deployment alone says which replica the rollout waits for, where it is, and why."""
    found = fleet.deployment("llama")
    waiting: Manifest = found.get("status", {}).get("rollout", {}).get("waitingFor", {})
    message = condition(found, "RolloutProgressing").get("message", "")
    assert waiting.get("cluster") in fleet.clusters, found.get("status")
    assert all(part in message for part in (waiting["name"], waiting["cluster"], NOT_FOUND)), message


@pytest.mark.proves("P77")
@pytest.mark.long
def test_a_bad_image_takes_one_of_three_replicas_says_why_and_is_undone_by_the_old_manifest(fleet: Fleet) -> None:
    before = _three_replicas(fleet, east=2, west=1)
    assert {replica["spec"]["clusterName"] for replica in fleet.replicas("llama")} == set(fleet.clusters)
    _roll(fleet, NOT_FOUND)
    eventually(lambda: _named(fleet), within=SOON)
    ends = time.monotonic() + WATCHED
    while time.monotonic() < ends:
        left = _serving(fleet)
        assert len(left) >= 2, fleet.deployment("llama").get("status")
        assert left.items() <= before.items()
        time.sleep(2)
    _roll(fleet, "v1")
    _wait_rolled(fleet, "v1", at_least=2)
    assert left.items() <= _serving(fleet).items()


@pytest.mark.long
def test_a_good_image_is_surged_where_there_is_room_and_all_three_replicas_serve_all_along(fleet: Fleet) -> None:
    # A node for each new replica: an old one keeps its own until its pods are gone.
    _three_replicas(fleet, east=3, west=3)
    _roll(fleet, "v2")
    _wait_rolled(fleet, "v2", at_least=3)


#: What a release changes that composes pods in another way: file, what stands there, and what then does.
RELEASE = (
    ("model/rollout.py", f"BUILDER: Final = {BUILDER}\n", f"BUILDER: Final = {BUILDER + 1}\n"),
    ("kube/pod.py", f"STARTUP_SECONDS = {STARTUP_SECONDS}\n", f"STARTUP_SECONDS = {STARTUP_SECONDS + 600}\n"),
)


@contextmanager
def _next_release(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """Run the functions from a copy of the tree with a release's changes; those of the tree return afterwards."""
    copy = folder / "functions"
    # Without what others compile meanwhile.
    shutil.copytree(ROOT / "functions", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, was, now in RELEASE:
        file = copy / "modelplane" / name
        assert was in file.read_text()
        file.write_text(file.read_text().replace(was, now))
    ours = [plane.processes[name] for name in FUNCTIONS]
    with ExitStack() as stack:
        for process in ours:
            process.stop()
            stack.callback(process.start)
        for process in ours:
            stack.enter_context(
                Process(f"{process.name}-next", process.folder, process.command, {"PYTHONPATH": str(copy)})
            )
        yield


@pytest.mark.alone
def test_an_upgrade_of_the_functions_restarts_nothing_and_is_counted_and_follow_upgrades_rolls_it_out(
    fleet: Fleet, tmp_path: Path
) -> None:
    fleet.add_cluster("east", nodes=3)
    fleet.deploy("llama", engines=[_engine("v1")], replicas=2)
    fleet.wait_ready("llama")
    before = _serving(fleet)
    with _next_release(fleet.plane, tmp_path):

        def counted(outdated: int) -> None:
            replicas = fleet.deployment("llama").get("status", {}).get("replicas", {})
            assert replicas.get("outdatedBuilder", 0) == outdated, replicas

        eventually(lambda: counted(2), within=SOON)
        assert _serving(fleet) == before
        assert fleet.counts("llama") == (2, 2)
        fleet.plane.hub.api.patch(DEPLOYMENT, "llama", {"spec": {"rollout": {"followUpgrades": True}}}, fleet.tag)

        def rolled() -> None:
            serving = _serving(fleet)
            assert len(serving) == 2, serving
            assert not serving.keys() & before.keys(), serving
            counted(0)

        eventually(rolled, within=SOON)
