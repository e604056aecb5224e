"""Whatever cluster on GKE the XRD admits, the real definitions of provider-gcp and Terraform take what is composed."""

import re
from collections.abc import Iterator
from ipaddress import ip_network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from property.google import LATER, TERRAFORM, checker, missing_arguments, refusals
from property.made_clusters import clusters
from property.strategies import examples
from unit.compose_cluster import clusters as fleet
from unit.compose_cluster import made

Manifest = dict[str, Any]
#: The sets of managementPolicies that crossplane-runtime takes, of those without LateInitialize.
LEGAL = (["Observe", "Create", "Update", "Delete"], ["Observe", "Create", "Update"], ["Observe"])
#: The form of each kind's name in Google Cloud.
FORMS = {
    "Cluster": r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?",
    "NodePool": r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?",
    "Network": r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
    "Subnetwork": r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
    "ServiceAccount": r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
}


def accounts(cluster: Manifest) -> Manifest:
    credentials = cluster["spec"]["cluster"]["gke"]["credentials"]
    return {**made.ACCOUNT, "kind": credentials["type"], "metadata": {"name": credentials["name"]}}


def managed_of(cluster: Manifest, uid: str = "u") -> Manifest:
    """Return the ManagedCluster of an InferenceCluster."""
    cluster = {**cluster, "metadata": {**cluster["metadata"], "uid": uid}}
    residents: dict[str, Any] = {f"residents-{cluster['metadata']['name']}": []}
    result = fleet.run(cluster, class_l4=[made.device_class()], **residents)
    body: Manifest = fleet.bodies(result)["managed-cluster"]
    stored = {"creationTimestamp": "2026-01-02T03:04:05Z"}
    return {**body, "metadata": {**body["metadata"], **stored}}


def composed_of(cluster: Manifest, uid: str = "u") -> dict[str, Manifest]:
    """Return what is composed in the cloud."""
    result = made.run(managed_of(cluster, uid), account=[accounts(cluster)])
    return dict(fleet.bodies(result))


def references(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field of a reference with the name in it."""
    for key, each in value.items() if isinstance(value, dict) else ():
        if key.endswith("Ref") and isinstance(each, dict):
            yield key, each["name"]
        yield from references(each, key)
    for each in value if isinstance(value, list) else ():
        yield from references(each, field)


#: The kind that each reference leads to.
LEADS_TO = {
    "networkRef": "Network",
    "subnetworkRef": "Subnetwork",
    "clusterRef": "Cluster",
    "serviceAccountIdRef": "ServiceAccount",
}


@examples(20)
@given(clusters())
def test_the_real_definitions_take_everything_that_is_composed(cluster: Manifest) -> None:
    bodies = composed_of(cluster)
    assert {body["kind"] for body in bodies.values()} >= {"Cluster", "NodePool", "ServiceAccountKey"}
    assert {name: found for name, body in bodies.items() if (found := refusals(body))} == {}
    assert {name: found for name, body in bodies.items() if (found := missing_arguments(body))} == {}


@examples(20)
@given(clusters())
def test_every_reference_leads_to_what_is_composed_and_every_secret_that_is_read_is_written(cluster: Manifest) -> None:
    bodies = composed_of(cluster)
    there = {(body["kind"], body["metadata"]["name"]) for body in bodies.values()}
    refs = [ref for body in bodies.values() for ref in references(body["spec"]["forProvider"])]
    assert {(LEADS_TO[field], name) for field, name in refs} <= there
    status = made.run(managed_of(cluster), made.seen(bodies), account=[accounts(cluster)]).status or {}
    written = {body["spec"].get("writeConnectionSecretToRef", {}).get("name") for body in bodies.values()}
    assert {status["kubeconfig"]["name"], status["identity"]["name"]} <= written


@examples(20)
@given(clusters(), st.sampled_from(["u", "another"]))
def test_names_keep_the_limits_of_google_and_no_two_are_equal(cluster: Manifest, uid: str) -> None:
    bodies = composed_of(cluster, uid)
    names = [(body["kind"], body["metadata"]["name"]) for body in bodies.values()]
    assert [each for each in names if each[0] in FORMS and not re.fullmatch(FORMS[each[0]], each[1])] == []
    assert len(names) == len(set(names))
    others = {(body["kind"], body["metadata"]["name"]) for body in composed_of(cluster, f"{uid}-2").values()}
    assert others.isdisjoint(names), "of another InferenceCluster of this name nothing is adopted"


@examples(20)
@given(clusters())
def test_policies_are_legal_and_nothing_is_initialized_late(cluster: Manifest) -> None:
    policies = {name: body["spec"]["managementPolicies"] for name, body in composed_of(cluster).items()}
    assert {name: each for name, each in policies.items() if each not in LEGAL} == {}
    assert {name for name, each in policies.items() if "Delete" not in each} == {"filestore-api"}


@examples(20)
@given(clusters())
def test_every_gpu_pool_has_the_labels_the_taint_and_no_surge_and_the_counts_that_are_asked_for(
    cluster: Manifest,
) -> None:
    bodies = composed_of(cluster)
    for pool in cluster["spec"]["nodePools"]:
        fields = bodies[f"pool-{pool['name']}"]["spec"]["forProvider"]
        config, labels = fields["nodeConfig"], fields["nodeConfig"]["labels"]
        assert (labels["modelplane.ai/pool"], labels["modelplane.ai/gpu"]) == (pool["name"], "nvidia-l4")
        assert labels["nvidia.com/gpu.present"] == labels["gke-no-default-nvidia-gpu-device-plugin"] == "true"
        assert config["taint"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]
        driver = config["guestAccelerator"][0]["gpuDriverInstallationConfig"]
        assert driver == {"gpuDriverVersion": "INSTALLATION_DISABLED"}
        assert (fields["upgradeSettings"]["maxSurge"], fields["upgradeSettings"]["maxUnavailable"]) == (0, 1)
        assert_counts(pool, fields, bodies[f"pool-{pool['name']}"]["spec"].get("initProvider", {}))


def assert_counts(pool: Manifest, fields: Manifest, first: Manifest) -> None:
    zones = len(pool["zones"])
    if "maxNodeCount" not in pool:
        assert "autoscaling" not in fields
        assert fields["nodeCount"] * zones == pool["nodeCount"], "GKE counts the nodes of each zone"
        return
    scaling = fields["autoscaling"]
    least = pool.get("minNodeCount", 1)
    assert (scaling["totalMinNodeCount"], scaling["totalMaxNodeCount"]) == (least, pool["maxNodeCount"])
    assert not {"minNodeCount", "maxNodeCount"} & scaling.keys(), "totals exclude bounds of each zone"
    assert least <= first["initialNodeCount"] * zones < least + zones


@examples(20)
@given(clusters())
def test_the_walls_of_a_cluster_are_there_from_its_creation(cluster: Manifest) -> None:
    fields = composed_of(cluster)["cluster"]["spec"]["forProvider"]
    assert fields["datapathProvider"] == "ADVANCED_DATAPATH", "NetworkPolicies are enforced"
    assert fields["gatewayApiConfig"] == {"channel": "CHANNEL_DISABLED"}
    assert fields["removeDefaultNodePool"] is True
    assert fields["deletionProtection"] is False


@examples(20)
@given(clusters(), st.randoms(use_true_random=False))
def test_addresses_are_apart_and_do_not_move_with_the_order_of_zones_and_pools(cluster: Manifest, chance: Any) -> None:
    bodies = composed_of(cluster)
    if "subnetwork" not in bodies:
        return
    fields = bodies["subnetwork"]["spec"]["forProvider"]
    secondary = {each["rangeName"]: each["ipCidrRange"] for each in fields["secondaryIpRange"]}
    parts = [ip_network(each) for each in (fields["ipCidrRange"], *secondary.values())]
    assert not any(one.overlaps(other) for one, other in combinations(parts, 2))
    used = fields["secondaryIpRange"]
    policy = bodies["cluster"]["spec"]["forProvider"]["ipAllocationPolicy"]
    assert {policy["clusterSecondaryRangeName"], policy["servicesSecondaryRangeName"]} == {
        each["rangeName"] for each in used
    }
    shuffled = [
        {**pool, "zones": chance.sample(pool["zones"], len(pool["zones"]))} for pool in cluster["spec"]["nodePools"]
    ]
    chance.shuffle(shuffled)
    again = composed_of({**cluster, "spec": {**cluster["spec"], "nodePools": shuffled}})
    assert again == bodies


@examples(20)
@given(clusters())
def test_a_second_pass_over_what_was_made_changes_nothing_of_it(cluster: Manifest) -> None:
    bodies = composed_of(cluster)
    again = fleet.bodies(made.run(managed_of(cluster), made.seen(bodies), account=[accounts(cluster)]))
    assert {name: again[name] for name in bodies} == bodies
    assert again.keys() - bodies.keys() == {"inside-storage-class", "inside-driver-installer"}
    assert all("Delete" not in again[name]["spec"]["managementPolicies"] for name in again.keys() - bodies.keys())


def test_of_twenty_clusters_each_has_addresses_of_its_own_or_says_whose_it_would_have() -> None:
    managed = [managed_of(made.cluster(name=f"cluster-{number}", gke=made.settings())) for number in range(20)]
    taken: dict[str, Manifest] = {}
    for number, each in enumerate(managed):
        each["metadata"]["creationTimestamp"] = f"2026-01-02T03:04:{number:02}Z"
        network = each["metadata"]["labels"]["modelplane.ai/network"]
        others = [taken[network], each] if network in taken else [each]
        result = made.run(each, others=others)
        if network in taken:
            assert result.desired == {}
            message = fleet.condition(result, "CloudReady").message
            assert taken[network]["spec"]["clusterName"] in message
            assert "network.cidr" in message
        else:
            made_of = fleet.bodies(result)["subnetwork"]["spec"]["forProvider"]["ipCidrRange"]
            assert ip_network(made_of).network_address == ip_network(f"{network}/16").network_address
            taken[network] = each
    assert len(taken) >= 18


@pytest.mark.parametrize("field", ["secondaryIpRanges", "noSuchField"])
def test_the_definitions_are_held_against_strictly(field: str) -> None:
    body = composed_of(made.cluster(gke=made.settings()))["subnetwork"]
    body["spec"]["forProvider"][field] = True
    assert refusals(body) != []
    del body["spec"]["forProvider"][field]
    del body["spec"]["forProvider"]["ipCidrRange"]
    assert missing_arguments(body) == ["ip_cidr_range"]


def test_fields_of_later_versions_are_listed_only_where_the_module_lacks_them() -> None:
    for kind, paths in LATER.items():
        assert kind in TERRAFORM
        for path in paths:
            fields: Any = "x"
            for step in reversed(path):
                fields = [fields] if step == "*" else {step: fields}
            spec = {"forProvider": fields, "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "d"}}
            found = [each.message for each in checker("container.gcp.m.upbound.io/v1beta1", kind).iter_errors(spec)]
            assert any("Additional properties" in each for each in found), path
