"""Who may write what a cluster is made of in a cloud, by the policies of install/."""

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.installed import installed, refusal_of_change
from apiserver.rights import binding
from apiserver.server import Server
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, TEAM
from modelplane_dev.plane.crossplane import establish

Manifest = dict[str, Any]
GROUP = "container.gcp.m.upbound.io"
#: The kind of provider-gcp, without its schema.
DEFINITION: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"nodepools.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "NodePool", "listKind": "NodePoolList", "plural": "nodepools", "singular": "nodepool"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


def pool(namespace: str) -> Manifest:
    reference = {"kind": "ProviderConfig", "name": "default"}
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "l4", "namespace": namespace},
        "spec": {"forProvider": {}, "providerConfigRef": reference},
    }


@pytest.fixture(scope="module")
def ruled(server: Server) -> Iterator[Server]:
    """Apply the policies on clouds, and let a team do everything with their kinds."""
    establish(server.cluster, [DEFINITION])
    server.cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE}})
    bound = [binding("cluster-admin", TEAM), binding("cluster-admin", CROSSPLANE)]
    with installed(server, "clouds.yaml", *bound) as running:
        yield running
    server.cluster.api.request("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.{GROUP}")


@pytest.mark.parametrize(("namespace", "refused"), [(SYSTEM_NAMESPACE, True), ("team", False)])
@pytest.mark.parametrize("user", [TEAM, ADMIN])
def test_only_the_provider_writes_the_status_of_what_a_cluster_is_made_of(
    ruled: Server, user: str, namespace: str, refused: bool
) -> None:
    made, api = pool(namespace), ruled.cluster.api
    api.apply(made)
    path = f"{ruled.path(made)}/l4/status"
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    said = refusal_of_change(ruled.cluster.api_of(user), path, ready)
    assert ("only its provider writes the status" in said) is refused
    assert refused or said == ""
    assert refusal_of_change(ruled.cluster.api_of(CROSSPLANE), path, ready) == ""
