"""A cloud is one package behind one protocol, and everything that lists clouds lists the same ones."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest
import yaml

from modelplane.clouds import CLOUDS, Account, Asked, Cloud, Key, Kind, Managed, Plan, PoolPhase, PoolReport, Seen
from modelplane.compose_cluster import managed_cluster
from modelplane.compose_cluster.inference_cluster import compose
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
    return deepcopy(found)


@dataclass
class Lists:
    """Everything that lists clouds: the registry, both XRDs, what the Configuration activates, and the page."""

    clouds: dict[str, Cloud]
    cluster: Manifest
    provisioning: Manifest
    activated: list[str]
    page: str

    def differences(self) -> list[str]:
        """Return what does not list the clouds of the registry, and no others."""
        blocks = {name: cloud.block for name, cloud in self.clouds.items()}
        kinds = [each for cloud in self.clouds.values() for each in cloud.kinds if "ProviderConfig" not in each.kind]
        names = {f"{each.kind.lower()}s.{each.api_version.partition('/')[0]}" for each in kinds}
        found = {
            "the sources": self.cluster["properties"]["source"]["enum"] == ["Existing", *blocks],
            "the providers of a class": self.provisioning["properties"]["provider"]["enum"] == [*blocks],
            "the kinds that are activated": set(self.activated) == names,
            "the page": set(re.findall(r"`spec\.cluster\.([a-z]+)`", self.page)) == set(blocks.values()),
        }
        for spec, field in ((self.cluster, "source"), (self.provisioning, "provider")):
            fixed = {"source", "existing", "provider"}
            found[f"the blocks beside {field}"] = spec["properties"].keys() - fixed == set(blocks.values())
            rules = [rule["rule"] for rule in spec["x-kubernetes-validations"]]
            asked = {f"self.{field} != '{name}' || has(self.{block})" for name, block in blocks.items()}
            asking = {
                rule for rule in rules if re.fullmatch(rf"self\.{field} != '(?!Existing)\w+' \|\| has\(.*\)", rule)
            }
            found[f"the rules of {field}"] = asking == asked
        return [what for what, same in found.items() if not same]


def lists() -> Lists:
    """Return the lists as they are."""
    return Lists(
        clouds=dict(CLOUDS),
        cluster=schema("InferenceCluster", "cluster"),
        provisioning=schema("InferenceClass", "provisioning"),
        activated=yaml.safe_load((ROOT / "clouds/activation.yaml").read_text())["spec"]["activate"],
        page=(ROOT / "docs/make-a-cluster.md").read_text(),
    )


def test_the_registry_the_xrds_the_sources_the_policy_and_the_page_have_the_same_clouds() -> None:
    assert lists().differences() == []
    assert SOURCES.keys() == {"Existing", *CLOUDS}


def test_the_second_configuration_has_the_providers_of_every_kind() -> None:
    kinds = [each for cloud in CLOUDS.values() for each in cloud.kinds if "ProviderConfig" not in each.kind]
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

    block = "fake"
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


class _InPlaceOfGke(_Fake):
    """The same cloud, whose clusters are asked for as those of GKE are."""

    block = "gke"


STAND_IN = _InPlaceOfGke()


def _in_registry(all_of: Lists) -> None:
    all_of.clouds["Fake"] = FAKE


def _in_xrds(all_of: Lists) -> None:
    for spec, field in ((all_of.cluster, "source"), (all_of.provisioning, "provider")):
        spec["properties"][field]["enum"].append("Fake")
        spec["properties"]["fake"] = {"type": "object"}
        spec["x-kubernetes-validations"].append({"rule": f"self.{field} != 'Fake' || has(self.fake)"})


def _in_policy(all_of: Lists) -> None:
    all_of.activated += ["farms.fake.m.upbound.io", "herds.fake.m.upbound.io"]


def _on_page(all_of: Lists) -> None:
    all_of.page += "| field of `spec.cluster.fake` |"


#: What a cloud is added by, and what differs without it.
STEPS: dict[str, tuple[Callable[[Lists], None], list[str]]] = {
    "its block in the XRDs": (
        _in_xrds,
        [
            "the sources",
            "the providers of a class",
            "the blocks beside source",
            "the rules of source",
            "the blocks beside provider",
            "the rules of provider",
        ],
    ),
    "its kinds in the activation policy": (_in_policy, ["the kinds that are activated"]),
    "its page": (_on_page, ["the page"]),
}


def test_a_cloud_is_added_by_its_package_its_block_its_line_and_its_page() -> None:
    all_of = lists()
    for add in (_in_registry, *(step for step, _ in STEPS.values())):
        add(all_of)
    assert all_of.differences() == []


@pytest.mark.parametrize("left_out", STEPS)
def test_a_cloud_that_is_added_but_for_one_step_is_noticed(left_out: str) -> None:
    all_of = lists()
    _in_registry(all_of)
    for name, (add, _) in STEPS.items():
        if name != left_out:
            add(all_of)
    assert all_of.differences() == sorted(STEPS[left_out][1], key=all_of.differences().index)


def pipelines(kind: str) -> Pipeline | None:
    """Return the pipelines of Modelplane, with this cloud in place of GKE."""
    if kind == "InferenceCluster.modelplane.ai":
        step = partial(compose, sources={"GKE": source_of("GKE", STAND_IN)})
        return Pipeline("inferencecluster", (("compose-cluster", step),))
    if kind == "ManagedCluster.modelplane.ai":
        step = partial(managed_cluster.compose, clouds={"GKE": STAND_IN})
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
