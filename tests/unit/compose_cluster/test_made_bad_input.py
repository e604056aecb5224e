"""Each bad input of a cluster that is made: refused at admission, or a condition that says what would be accepted."""

from collections.abc import Callable
from typing import Any

import pytest

from modelplane.preview import ControlPlane, InvalidObject
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made

Manifest = dict[str, Any]
TWO_ZONES = ["us-central1-a", "us-central1-b"]
BESIDE = {"network": "n", "subnetwork": "s", "podRange": "p", "serviceRange": "q"}

#: An InferenceCluster, the field that is named, and words of the message.
REFUSED: dict[str, tuple[Manifest, str, str]] = {
    "a name over its limit": (made.cluster(name="a" * 64), "metadata.name", "63"),
    "the name of a pool over its limit": (made.cluster(made.pool("a" * 41)), "spec.nodePools[0].name", "40"),
    "the name of Modelplane's own pool": (made.cluster(made.pool("system")), "spec.nodePools[0].name", "reserved"),
    "a fixed count that its zones do not share": (
        made.cluster(made.pool(zones=TWO_ZONES, nodeCount=3)),
        "spec",
        "must divide by its zones",
    ),
    "a pool without zones": (
        made.cluster({"name": "l4", "className": "l4", "nodeCount": 1}),
        "spec",
        "needs zones",
    ),
    "more nodes at least than at most": (
        made.cluster({"name": "l4", "className": "l4", "zones": TWO_ZONES, "minNodeCount": 3, "maxNodeCount": 2}),
        "spec.nodePools[0]",
        "must not exceed",
    ),
    "a fabric that the cloud lacks": (
        made.cluster(made.pool(fabric={"type": "InfiniBand"})),
        "spec.nodePools[0].fabric",
        "leave fabric out",
    ),
    "no region": (
        {**made.cluster(), "spec": {**made.cluster()["spec"], "cluster": {"source": "GKE", "gke": {}}}},
        "spec.cluster.gke.region",
        "Required",
    ),
    "no block": (
        {**made.cluster(), "spec": {**made.cluster()["spec"], "cluster": {"source": "GKE"}}},
        "spec.cluster",
        "gke is required",
    ),
    "a version without DRA": (
        made.cluster(gke={"kubernetesVersion": "1.33"}),
        "spec.cluster.gke.kubernetesVersion",
        "should match",
    ),
    "a network that is too small": (
        made.cluster(gke={"network": {"cidr": "10.1.0.0/24"}}),
        "spec.cluster.gke.network.cidr",
        "/16",
    ),
    "a network that is made beside one that is brought": (
        made.cluster(gke={"network": {"cidr": "10.1.0.0/16", "existing": BESIDE}}),
        "spec.cluster.gke.network",
        "leave it out beside existing",
    ),
    "networks that may reach an API server without an address": (
        made.cluster(gke={"apiAccess": "DNS", "apiAccessCIDRs": ["192.0.2.0/24"]}),
        "spec.cluster.gke",
        "apiAccess Public",
    ),
    "a part of the stack that is brought": (
        made.cluster(stack={"lws": "Present"}),
        "spec",
        "installs the serving stack",
    ),
}


@pytest.mark.parametrize(("cluster", "field", "words"), REFUSED.values(), ids=REFUSED)
def test_what_the_schema_can_say_is_refused_at_admission(cluster: Manifest, field: str, words: str) -> None:
    with pytest.raises(InvalidObject, match=r".") as refused:
        ControlPlane([cluster], None)
    assert refused.value.field.startswith(field)
    assert words in str(refused.value)


#: The edit of a stored cluster, of what it had.
EDITS: dict[str, tuple[Manifest, Manifest, str]] = {
    "another region": ({}, {"region": "europe-west4"}, "region cannot be changed"),
    "a version is skipped": (
        {"kubernetesVersion": "1.35"},
        {"kubernetesVersion": "1.37"},
        "one minor version at a time",
    ),
    "a version is lowered": ({"kubernetesVersion": "1.36"}, {"kubernetesVersion": "1.35"}, "never lowered"),
    "other credentials": ({}, {"credentials": {"name": "b"}}, "credentials cannot be changed"),
    "another network": ({}, {"network": {"cidr": "10.9.0.0/16"}}, "network cannot be changed"),
}


@pytest.mark.parametrize(("before", "after", "words"), EDITS.values(), ids=EDITS)
def test_an_edit_that_no_cloud_can_make_is_refused_at_admission(before: Manifest, after: Manifest, words: str) -> None:
    control = ControlPlane([made.cluster(gke=before)], None)
    region = after.get("region", "us-central1")
    with pytest.raises(InvalidObject, match=words):
        control.apply(made.cluster(made.pool(zones=[f"{region}-a"]), gke=after))


def _quota() -> tuple[str, str]:
    body = made.managed(made.asked_pool())
    error = "googleapi: Error 403: Quota 'NVIDIA_L4_GPUS' exceeded. Limit: 0.0 in region us-central1."
    result = made.run(body, made.seen(given.bodies(made.run(body)), errors={"pool-l4": error}))
    row = (result.status or {})["pools"][0]
    return row["state"], row["message"]


def _condition(*pools: Manifest, **fields: Any) -> Callable[[], tuple[str, str]]:
    def found() -> tuple[str, str]:
        arguments = {name: fields.pop(name) for name in ("account", "others") if name in fields}
        result = made.run(made.managed(*(pools or (made.asked_pool(),)), **fields), **arguments)
        condition = given.condition(result, "CloudReady")
        assert result.desired == {}
        return str(condition.reason), condition.message

    return found


OLDER = {
    **made.managed(name="first"),
    "metadata": {"name": "first", "namespace": "modelplane-system", "creationTimestamp": "2025-01-01T00:00:00Z"},
}
#: What is found, the reason or state, and words that say what would be accepted.
TOLD: dict[str, tuple[Callable[[], tuple[str, str]], str, str]] = {
    "a zone of another region": (
        _condition(made.asked_pool(zones=["europe-west4-a"])),
        "InvalidNodePool",
        "name zones such as us-central1-a",
    ),
    "more nodes than the network has addresses for": (
        _condition(made.asked_pool(nodeCount=200)),
        "InvalidNodePool",
        "ask for fewer",
    ),
    "a network that is none": (
        _condition(apiAccessCIDRs=["300.1.1.1/8"]),
        "InvalidNodePool",
        "write a network such as 192.0.2.0/24",
    ),
    "the addresses of another cluster": (
        _condition(others=[OLDER], network={"cidr": "10.1.0.0/16"}),
        "Provisioning",
        "that of InferenceCluster first",
    ),
    "no project in the provider's config": (
        _condition(account=[{**made.ACCOUNT, "spec": {}}]),
        "Provisioning",
        "has no spec.projectID, the project of Google Cloud. Set it",
    ),
    "no config of the provider": (_condition(account=[]), "Provisioning", "Create it"),
    "an account without quota": (_quota, "Waiting", "ask for more"),
}


@pytest.mark.parametrize(("found", "reason", "words"), TOLD.values(), ids=TOLD)
def test_what_it_cannot_say_is_a_condition_with_what_would_be_accepted(
    found: Callable[[], tuple[str, str]], reason: str, words: str
) -> None:
    said, message = found()
    assert said == reason
    assert words in message
