"""A ServingStack on a real API server: what it composes is taken, and nobody but Crossplane writes one."""

from collections.abc import Iterator

import pytest

from apiserver.installed import RBAC, installed, refusal, refusal_of_change
from apiserver.rights import binding
from apiserver.server import Server
from modelplane.model.names import GROUP, SYSTEM_NAMESPACE
from modelplane.stack import Part
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, TEAM
from unit.compose_cluster.stacks import Cluster, stack

_EVERYTHING = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "everything-of-ours"},
    "rules": [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["*"]}],
}


@pytest.fixture(scope="module")
def guarded(server: Server) -> Iterator[Server]:
    """Apply the policy of install/; the team and Crossplane may do anything with our kinds besides."""
    bindings = [binding(_EVERYTHING["metadata"]["name"], user) for user in (TEAM, CROSSPLANE)]  # type: ignore[index]
    with installed(server, "inner-kinds.yaml", _EVERYTHING, *bindings) as running:
        yield running


def test_what_a_stack_composes_and_reports_is_taken(server: Server) -> None:
    identity = {"type": "AzureWorkloadIdentityCredentials", "name": "sa", "key": "k"}
    cluster = Cluster(spec={"identity": identity, "parts": {"nodeFeatureDiscovery": "Managed", "metrics": "Present"}})
    result = cluster.settle()
    placed = {"namespace": SYSTEM_NAMESPACE}
    refused = {
        name: server.refusal({**body, "metadata": {"name": f"stack-{name.lower()}", **body["metadata"], **placed}})
        for name, body in ((name, dict(each.build())) for name, each in result.desired.items())
    }
    assert {name: words for name, words in refused.items() if words} == {}
    assert len([name for name in refused if name.startswith("release-")]) == len(Part)
    assert server.refusal_of_status({**stack(**cluster.spec), "status": result.status}) == ""


def test_nobody_but_crossplane_writes_a_stack(guarded: Server) -> None:
    assert "only Modelplane writes a ServingStack" in refusal(guarded, TEAM, stack())
    assert refusal(guarded, CROSSPLANE, stack()) == ""
    api, path = guarded.cluster.api, f"{guarded.path(stack())}/eu-1"
    api.apply(stack())
    try:
        turned = {"spec": {"kubeconfig": {"name": "another", "key": "kubeconfig"}}}
        assert "only Modelplane writes" in refusal_of_change(guarded.cluster.api_of(TEAM), path, turned)
        for user in (CROSSPLANE, ADMIN):
            assert refusal_of_change(guarded.cluster.api_of(user), path, turned) == ""
        kept = {"metadata": {"finalizers": ["example.org/wait"]}}
        assert refusal_of_change(guarded.cluster.api_of(TEAM), path, kept) == "", "as Kubernetes' own controllers do"
    finally:
        api.request("DELETE", path)
