"""Everything that is composed is what a real API server takes: on the control cluster and on an inference cluster."""

from itertools import permutations
from typing import Any

import pytest

from apiserver.server import Server
from golden import read_documents
from modelplane.kube.namespace import closed, reaching_api_server, tenant
from modelplane.kube.object import CLAIMED, KEPT, ORPHANED, remote_object
from modelplane.model.fleet import Egress, Mark
from unit.compose_cluster import clusters
from unit.compose_replica import replicas


def named(resource: str, body: dict[str, Any], **namespace: str) -> dict[str, Any]:
    """Return a composed object under a name, and in its composite's namespace, as Crossplane completes it."""
    return {**body, "metadata": {"name": f"composed-{resource}", **body["metadata"], **namespace}}


def patched(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest as the provider applies it: with the data of the Secret that it copies."""
    if manifest.get("type") != "kubernetes.io/dockerconfigjson":
        return manifest
    return {**manifest, "data": {".dockerconfigjson": "e30="}}


def composed(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a replica composes while it starts, by resource name: all that it can have."""
    starting = replicas.serving(body)
    for found in starting.values():
        found["status"].get("atProvider", {}).get("manifest", {}).pop("status", None)
    desired = replicas.run(body, starting).desired
    return {resource: dict(desired[resource].build()) for resource in desired}


@pytest.mark.parametrize("topology", replicas.TOPOLOGIES)
def test_what_a_replica_composes_is_taken_on_both_clusters(server: Server, topology: str) -> None:
    replica = read_documents(replicas.TOPOLOGIES[topology])[0]
    bodies, team = composed(replica), replica["metadata"]["namespace"]
    assert "pods" in bodies
    manifests = {name: body["spec"].get("forProvider", {}).get("manifest") for name, body in bodies.items()}
    looked_at = {name for name, body in bodies.items() if body["spec"].get("managementPolicies") == ["Observe"]}
    put = {name: manifest for name, manifest in manifests.items() if manifest and name not in looked_at}
    # The namespace is there already, for the others.
    put["namespace"]["metadata"]["name"] += "-2"
    refused = {f"on the cluster: {name}": server.refusal(patched(manifest)) for name, manifest in put.items()}
    refused |= {f"here: {name}": server.refusal(named(name, body, namespace=team)) for name, body in bodies.items()}
    assert {name: words for name, words in refused.items() if words} == {}


@pytest.mark.parametrize("egress", Egress)
def test_the_policies_of_a_closed_namespace_are_taken(server: Server, egress: Egress) -> None:
    team, cidrs = f"egress-{egress.lower()}", ["192.0.2.0/24", "2001:db8::/32"]
    policies = [closed(team, cidrs, egress=egress, egress_cidrs=cidrs)]
    if egress is not Egress.NONE:
        policies.append(reaching_api_server("picker", team, {"modelplane.ai/picker": "picker"}, egress, cidrs))
    api = server.cluster.api
    api.apply(tenant(team, Mark.CREATION, egress))
    for policy in policies:
        # What is not there as it is wanted is written again and again.
        assert api.apply(policy)["spec"] == policy["spec"]


def test_what_a_cluster_composes_is_taken(server: Server) -> None:
    body = clusters.cluster()
    identity = {"name": "sa", "key": "k", "type": "GoogleApplicationCredentials"}
    body["spec"]["cluster"]["existing"]["identitySecretRef"] = identity
    result = clusters.run(body, clusters.reached())
    bodies = clusters.bodies(result)
    refused = {name: server.refusal(named(name, made)) for name, made in bodies.items()}
    assert {name: words for name, words in refused.items() if words} == {}
    assert server.refusal_of_status(body | {"status": clusters.status(result)}) == ""


@pytest.mark.parametrize("topology", replicas.TOPOLOGIES)
def test_every_status_of_a_replica_is_one_that_its_definition_declares(server: Server, topology: str) -> None:
    body = read_documents(replicas.TOPOLOGIES[topology])[0]
    reported = [body | {"status": replicas.run(body, seen).status} for seen in ({}, replicas.serving(body))]
    assert [server.refusal(each) for each in reported] == ["", ""]
    assert [server.refusal_of_status(each) for each in reported] == ["", ""]


def test_an_object_that_others_apply_too_can_be_handled_in_each_way_after_each_other(server: Server) -> None:
    api = server.cluster.api
    namespace, handlings = tenant("team", Mark.NONE), (CLAIMED, KEPT, ORPHANED)
    ways = [remote_object(namespace, way, namespace="team", config="eu-1") for way in handlings]
    for number, order in enumerate(permutations(ways)):
        first, *later = (named(f"way-{number}", body) for body in order)
        found = api.apply(first)
        # The provider writes its finalizer by an update of the whole object, and owns what the server has filled in.
        found["metadata"]["finalizers"] = ["of/a-provider"]
        api.request("PUT", f"{server.path(found)}/{found['metadata']['name']}", found)
        for body in (*later, first):
            applied = api.apply(body)["spec"]
            for field in ("managementPolicies", "readiness"):
                assert applied[field] == body["spec"][field]
