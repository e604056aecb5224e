"""A ServingStack on a real API server: what it composes is taken, and nobody but Crossplane writes one."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from apiserver.installed import RBAC, installed, refusal, refusal_of_change
from apiserver.rights import PROVIDER, binding
from apiserver.server import Server
from modelplane.model.names import GROUP, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, TEAM
from unit.compose_cluster.stacks import Cluster, stack

#: As Crossplane's role for those who edit has it: every verb on our kinds and on the provider's, `use` among them.
_EVERYTHING = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "everything-of-crossplane"},
    "rules": [
        {"apiGroups": [GROUP], "resources": ["managedclusters", "servingstacks"], "verbs": ["*"]},
        {"apiGroups": [PROVIDER], "resources": ["*"], "verbs": ["*"]},
    ],
}


@pytest.fixture(scope="module")
def guarded(server: Server) -> Iterator[Server]:
    """Apply the policy of install/; the team and Crossplane may do anything with our kinds besides."""
    bindings = [binding(_EVERYTHING["metadata"]["name"], user) for user in (TEAM, CROSSPLANE)]  # type: ignore[index]
    with installed(server, "inner-kinds.yaml", _EVERYTHING, *bindings) as running:
        yield running


_AZURE = {"type": "AzureWorkloadIdentityCredentials", "name": "sa", "key": "k"}
#: Specs of ServingStacks, and how many Releases each has.
SPECS: dict[str, tuple[dict[str, Any], int]] = {
    "a cluster": (
        {
            "identity": _AZURE,
            "parts": {"nodeFeatureDiscovery": "Managed", "metrics": "Present", "inventory": "Managed"},
            "values": {"dra": {"nvidiaDriverRoot": "/run/nvidia/driver"}},
        },
        7,
    ),
    "the control cluster": ({"kubeconfig": None, "parts": {"certManager": "Managed", "gateway": "Present"}}, 1),
}


@pytest.mark.parametrize(("spec", "releases"), SPECS.values(), ids=SPECS)
def test_what_a_stack_composes_and_reports_is_taken(
    spec: dict[str, Any], releases: int, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELPLANE_CHART_DIGESTS", f"lws=sha256:{'a' * 64}")
    monkeypatch.setenv("MODELPLANE_IMAGE", "registry.example.org/modelplane:v1")
    cluster = Cluster(spec=spec)
    result = cluster.settle()
    placed = {"namespace": SYSTEM_NAMESPACE}
    refused = {
        name: server.refusal({**body, "metadata": {"name": f"stack-{name.lower()}", **body["metadata"], **placed}})
        for name, body in ((name, dict(each.build())) for name, each in result.desired.items())
    }
    assert {name: words for name, words in refused.items() if words} == {}
    assert len([name for name in refused if name.startswith("release-")]) == releases
    assert server.refusal_of_status({**stack(**cluster.spec), "status": result.status}) == ""


def test_a_platform_may_be_given_what_helm_needs_on_the_control_cluster(server: Server) -> None:
    rights = list(yaml.safe_load_all((ROOT / "install/control-cluster-stack/rights.yaml").read_text()))
    assert [server.refusal(each) for each in rights] == ["", "", ""]


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
