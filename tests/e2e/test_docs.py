"""The commands of the pages that need a whole control plane: the `sh` blocks, run as they stand there."""

import pytest

from docs.blocks import ON_A_PLANE, File, blocks, patient_scripts
from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.pods import NOT_FOUND
from modelplane_dev.plane.waiting import eventually

#: The cluster that the pages speak of.
CLUSTER = "eu-1"


def _scripts(page: str) -> list[str]:
    assert page in ON_A_PLANE
    return patient_scripts(ROOT / "docs" / f"{page}.md")


def _run(script: str, hub: Cluster) -> str:
    return hub.shell(script, ROOT)


def _serving_beside_a_free_cluster(fleet: Fleet, site: str) -> tuple[str, str]:
    """Return a cluster on a site, on which a deployment of one replica serves, and a free one."""
    here = fleet.add_cluster(site)
    fleet.deploy("llama", engines=[engine(8)])
    fleet.wait_ready("llama")
    return here, fleet.add_cluster("west")


def test_the_page_on_installing_applies_what_the_server_takes(plane: ControlPlane) -> None:
    prepare, install, look = _scripts("install")
    # Nothing can pull the packages' images here: the server says whether it takes them.
    for script in (prepare, install):
        printed = _run(script.replace("kubectl apply", "kubectl apply --dry-run=server"), plane.hub)
        assert printed.count("server dry run") == len(printed.splitlines())
    assert "modeldeployments.modelplane.ai" in _run(look, plane.hub)


@pytest.mark.long
def test_the_page_on_draining_moves_a_clusters_replicas_and_takes_the_taint_away(fleet: Fleet) -> None:
    here, there = _serving_beside_a_free_cluster(fleet, "east")
    for script in _scripts("drain-a-cluster"):
        _run(script.replace(CLUSTER, here), fleet.plane.hub)
    assert fleet.replica("llama")["spec"]["clusterName"] == there
    assert "taints" not in fleet.cluster(here)["spec"]
    fleet.wait_counts("llama", total=1, ready=1)


@pytest.mark.takes("north")
def test_the_page_on_removing_gives_up_a_cluster_that_never_answers_again(fleet: Fleet) -> None:
    here, there = _serving_beside_a_free_cluster(fleet, "north")
    server = fleet.clusters[here].processes["api_server"]
    abandon, taint, delete = (script.replace(CLUSTER, here) for script in _scripts("remove-a-cluster"))
    server.stop()
    try:
        _run(abandon, fleet.plane.hub)

        def reported() -> None:
            output = _run(abandon.partition("\n")[2], fleet.plane.hub)
            assert f"InferenceCluster {here} is abandoned" in output

        eventually(reported, within=SOON)
        _run(taint, fleet.plane.hub)
        _run(delete, fleet.plane.hub)

        def gone() -> None:
            assert not fleet.cluster(here)

        eventually(gone, within=SOON)
    finally:
        server.start()
    server.wait_for(fleet.clusters[here].cluster.api.ready)

    def moved() -> None:  # what is left of the lost replica goes after its cluster
        assert fleet.replica("llama")["spec"]["clusterName"] == there

    eventually(moved, within=SOON)
    fleet.wait_counts("llama", total=1, ready=1)


@pytest.mark.long
@pytest.mark.takes("south")
def test_the_page_on_trying_shows_a_bad_image_a_taint_and_a_lost_cluster(fleet: Fleet) -> None:
    east, south = (fleet.add_cluster(site, nodes=3) for site in ("east", "south"))
    ours = {"us-east-1": east, "us-west-2": south, "region: us": f"scenario: {fleet.tag}"}
    ours |= {f"{word} ml": f"{word} {fleet.tag}" for word in ("namespace:", "-n")}

    def here(text: str) -> str:
        for theirs, mine in ours.items():
            text = text.replace(theirs, mine)
        return text

    folder = fleet.plane.hub.run.folder / fleet.tag
    folder.mkdir()
    (file,) = (block for block in blocks(ROOT / "docs" / "try.md") if isinstance(block, File))
    (folder / file.name).write_text(here(file.text))
    start, bad, undo, taint, moved, lost, back = (here(script) for script in _scripts("try"))
    for script in (start, bad):
        output = fleet.plane.hub.shell(script, folder)
    assert NOT_FOUND in output
    for script in (undo, taint, moved):
        fleet.plane.hub.shell(script, folder)
    assert {replica["spec"]["clusterName"] for replica in fleet.replicas("try")} == {south}
    server = fleet.clusters[south].processes["api_server"]
    server.stop()
    try:
        assert "ClusterUnreachable" in fleet.plane.hub.shell(lost, folder)
    finally:
        server.start()
    fleet.plane.hub.shell(back, folder)
