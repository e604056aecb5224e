"""A cloud is one package behind one protocol, and everything that lists clouds lists the same ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import yaml

from modelplane.clouds import CLOUDS, Account, Asked, Key, Kind, Managed, Plan, PoolPhase, PoolReport, Seen
from modelplane.compose_cluster import managed_cluster
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.not_read import NOT_READ
from modelplane.compose_cluster.sources import SOURCES
from modelplane.compose_cluster.sources.made import source_of
from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.preview.simulation.providers import StatusPatch
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy
from modelplane.reading.definitions import xrds
from modelplane_dev.folders import ROOT
from unit.compose_cluster import made

Manifest = dict[str, Any]


def schema(kind: str, *path: str) -> Manifest:
    found: Manifest = xrds()[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for step in path:
        found = found["properties"][step]
    return found


def test_the_registry_the_xrds_the_sources_the_policy_and_the_page_have_the_same_clouds() -> None:
    cluster, provisioning = schema("InferenceCluster", "cluster"), schema("InferenceClass", "provisioning")
    composed = set(CLOUDS)
    assert set(cluster["properties"]["source"]["enum"]) == set(SOURCES) == {"Existing", *composed}
    not_read = {path[-1] for path in NOT_READ["InferenceClass"]}
    blocks = {name: cloud.block for name, cloud in CLOUDS.items()}
    named = {each.lower(): each for each in provisioning["properties"]["provider"]["enum"]}
    assert named.keys() - not_read == set(blocks.values())
    for found, field in ((cluster, "source"), (provisioning, "provider")):
        rules = " ".join(rule["rule"] for rule in found["x-kubernetes-validations"])
        assert all(f"self.{field} != '{name}' || has(self.{block})" in rules for name, block in blocks.items())
        assert set(blocks.values()) <= found["properties"].keys()
    page = (ROOT / "docs/make-a-cluster.md").read_text()
    assert set(re.findall(r"`spec\.cluster\.([a-z]+)`", page)) == set(blocks.values())


def test_the_second_configuration_has_the_providers_of_every_kind_and_activates_each() -> None:
    policy = yaml.safe_load((ROOT / "clouds/activation.yaml").read_text())
    kinds = [each for cloud in CLOUDS.values() for each in cloud.kinds if "ProviderConfig" not in each.kind]
    names = {f"{each.kind.lower()}s.{each.api_version.partition('/')[0]}" for each in kinds}
    assert set(policy["spec"]["activate"]) == names
    asked = yaml.safe_load((ROOT / "clouds/crossplane.yaml").read_text())["spec"]["dependsOn"]
    packages = {each["package"].rpartition("/")[2]: each["version"] for each in asked}
    families = {f"provider-gcp-{each.api_version.partition('.')[0]}" for each in kinds}
    assert packages.keys() == families
    assert set(packages.values()) == {">=v3.0.0 <v4.0.0"}
    assert {cloud.provider for cloud in CLOUDS.values()} <= packages.keys()


API: Final = "fake.m.upbound.io/v1beta1"
CLUSTER, POOL, CONFIG = Kind(API, "Farm"), Kind(API, "Herd"), Kind(API, "ClusterProviderConfig")


class _Fake:
    """A cloud of two kinds, whose kubeconfig needs no identity and whose network is always there."""

    block = "gke"
    provider = "provider-fake"
    main = CLUSTER
    kinds: Sequence[Kind] = (CLUSTER, POOL, CONFIG)

    def account(self, settings: Mapping[str, Any]) -> Account:  # noqa: ARG002 - one for all
        return Account(CONFIG, "default", "farmer", "who pays")

    def network(self, cluster: str, settings: Mapping[str, Any]) -> str:  # noqa: ARG002 - none is made
        return ""

    def plan(self, asked: Asked, seen: Mapping[str, Seen]) -> Plan:
        name = f"{asked.cluster}-{asked.key}"
        herds = {f"herd-{pool.name}": Managed(POOL, f"{name}-{pool.name}", {"farm": name}) for pool in asked.pools}
        up = "farm" in seen and seen["farm"].ready
        return Plan(
            resources={"farm": Managed(CLUSTER, name, {"farmer": asked.account}, secret=name), **herds},
            pools=tuple(PoolReport(pool.name, PoolPhase.READY, 1) for pool in asked.pools),
            kubeconfig=Key(name, "config") if up else None,
            storage_class="barn",
        )


FAKE = _Fake()


def pipelines(kind: str) -> Pipeline | None:
    """Return the pipelines of Modelplane, with this cloud in place of GKE."""
    if kind == "InferenceCluster.modelplane.ai":
        step = partial(compose, sources={"GKE": source_of("GKE", FAKE)})
        return Pipeline("inferencecluster", (("compose-cluster", step),))
    if kind == "ManagedCluster.modelplane.ai":
        step = partial(managed_cluster.compose, clouds={"GKE": FAKE})
        return Pipeline("managedcluster", (("compose-cluster", step),))
    return pipeline_of(kind)


class World:
    """The healthy world, which has the kinds of this cloud."""

    kinds = (*healthy.kinds, *((each.api_version, each.kind) for each in FAKE.kinds))

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        yield from healthy(view)


def test_another_cloud_is_added_by_its_package_alone_made_edited_and_deleted() -> None:
    config = {"apiVersion": API, "kind": "ClusterProviderConfig", "metadata": {"name": "default"}}
    account = {**config, "spec": {"farmer": "jo"}}
    control = ControlPlane((account, made.device_class(), made.cluster()), World(), pipelines)
    assert control.settle()
    assert control.errors == {}
    (cluster,), (farm,) = control.list("InferenceCluster"), control.list("Farm")
    assert cluster["status"]["cache"] == {"storageClassName": "barn"}
    assert {each["type"]: each["status"] for each in cluster["status"]["conditions"]}["ClusterReady"] == "True"
    assert farm["spec"]["forProvider"] == {"farmer": "jo"}
    control.apply(made.cluster(made.pool("a"), made.pool("b")))
    assert control.settle()
    assert [each["metadata"]["name"].rpartition("-")[2] for each in control.list("Herd")] == ["a", "b"]
    assert control.delete("InferenceCluster", None, "eu-1")
    control.settle()
    assert [control.list(kind) for kind in ("ManagedCluster", "Farm", "Herd", "Usage")] == [[], [], [], []]
