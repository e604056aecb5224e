"""How an InferenceCluster may be deleted, by the policy of install/."""

from collections.abc import Iterator

import pytest

from apiserver.installed import installed
from apiserver.server import Manifest, Server
from modelplane_dev.plane.api import Api, ApiError
from modelplane_dev.plane.cluster import ADMIN
from unit.compose_cluster import clusters
from unit.compose_cluster.stacks import stack


@pytest.fixture(scope="module")
def guarded(server: Server) -> Iterator[Server]:
    """Apply the policy of install/."""
    with installed(server, "deletion.yaml") as running:
        yield running


def _refusal(api: Api, path: str, body: Manifest | None) -> str:
    try:
        api.request("DELETE", path, body)
    except ApiError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("made", [clusters.cluster(), stack()], ids=["InferenceCluster", "ServingStack"])
def test_it_is_deleted_in_the_background_alone(guarded: Server, made: Manifest) -> None:
    api, where = guarded.cluster.api_of(ADMIN), guarded.path(made)
    guarded.cluster.api.apply(made)
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}
    path = f"{where}/{made['metadata']['name']}"
    words = f"{made['kind']} eu-1 is deleted in the background: kubectl delete --cascade=background"
    try:
        for each in (path, where):
            foreground = {**options, "propagationPolicy": "Foreground"}
            assert words in _refusal(api, each, foreground), "of one, and of all"
            assert words in _refusal(api, f"{each}?dryRun=All&propagationPolicy=Foreground", None)
        for policy in ("Background", "Orphan"):
            assert _refusal(api, path, {**options, "propagationPolicy": policy}) == ""
        assert _refusal(api, path, options) == ""
    finally:
        guarded.cluster.api.request("DELETE", path)
