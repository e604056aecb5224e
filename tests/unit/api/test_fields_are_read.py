"""No field of a class or a cluster is admitted and ignored: it changes what is done or said.

`WHOLE` has every field of the XRD, `OTHER` another value of each. One value at a time is put from the one into the
other. What a step returns and what the scheduler reads must differ, unless the field is text for people.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml

from modelplane.compose_cluster import inference_class
from modelplane.observed.cluster import read_cluster, read_team_isolation
from modelplane.preview.admission import admit
from modelplane.reading.definitions import xrds
from modelplane.step import Request
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made as managed

Manifest = dict[str, Any]
#: Where a value is: fields and, in lists, numbers.
Place = tuple[str | int, ...]

_CLASS = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l4}
spec:
  description: One
  provisioning:
    provider: GKE
    gke: {machineType: a, diskSizeGb: 10, accelerator: {type: a, count: 1}}
  capabilities:
    memoryPerGpu: 24Gi
    interconnect: pcie
    precisionSupport: [fp8]
    nvlinkDomainSize: 1
    multiNodeCapable: true
    interNodeBandwidth: ib-100g
    device: gpu
  devices:
  - name: gpu
    claim: DRA
    driver: gpu.nvidia.com
    deviceClassName: gpu.nvidia.com
    count: 8
    attributes: {a: {string: a}, b: {version: 1.0.0}, c: {bool: true}, d: {int: 1}}
    capacity: {memory: {value: 23034Mi}}
  - {name: nic, claim: DRA, driver: nic.example.org, deviceClassName: nic.example.org, count: 1}
"""
_OTHER_CLASS = """
spec:
  description: Two
  provisioning:
    provider: GKE
    gke: {machineType: b, diskSizeGb: 11, accelerator: {type: b, count: 2}}
  capabilities:
    memoryPerGpu: 23Gi
    interconnect: nvlink
    precisionSupport: [fp16]
    nvlinkDomainSize: 2
    multiNodeCapable: false
    interNodeBandwidth: ib-200g
    device: nic
  devices:
  - name: other
    claim: Synthetic
    driver: gpu.example.org
    deviceClassName: gpu.example.org
    count: 7
    attributes: {a: {string: b}, b: {version: 2.0.0}, c: {bool: false}, d: {int: 2}}
    capacity: {memory: {value: 22Gi}}
"""
_CLUSTER = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: eu-1}
spec:
  cluster:
    source: Existing
    existing:
      provider: a
      instanceType: a
      secretRef: {name: a, key: a}
      identitySecretRef: {name: a, key: a, type: GoogleApplicationCredentials}
      cache: {storageClassName: a, runAsUser: 1}
  stack:
    isolation: NewNamespaces
    egress: None
    egressCIDRs: [192.0.2.0/24]
    podMetadataPrefixes: [a.example.com]
    gatewayCIDRs: [192.0.2.0/24]
    podSecurity: Warn
    engineCapabilities: Default
    certManager: Managed
    gateway: Managed
    aiGateway: Managed
    lws: Managed
    nodeFeatureDiscovery: Managed
    dra: Managed
    inferenceExtension: Present
    inventory: Managed
    metrics: Managed
    inventory: Managed
    values: {lws: {replicaCount: 2}}
  allowedNamespaces: {from: Selector, selector: {matchLabels: {team: a}}}
  taints: [{key: a, value: a, effect: NoSchedule}]
  nodePools:
  - name: a
    className: l4
    node: {cpu: 10, memory: 10Gi, pods: 10}
    tolerations: [{key: a, operator: Equal, value: a, effect: NoSchedule}]
    capabilities:
      memoryPerGpu: 24Gi
      interconnect: pcie
      precisionSupport: [fp8]
      nvlinkDomainSize: 1
      multiNodeCapable: true
      interNodeBandwidth: ib-100g
      device: gpu
    nodeCount: 2
  - {name: b, className: l4, minNodeCount: 2}
  - {name: c, className: l4, maxNodeCount: 2}
"""
_OTHER_CLUSTER = """
spec:
  cluster:
    existing:
      provider: b
      instanceType: b
      secretRef: {name: b, key: b}
      identitySecretRef: {name: b, key: b, type: NebiusServiceAccountCredentials}
      cache: {storageClassName: b, runAsUser: 2}
  stack:
    isolation: Open
    egress: NoMetadata
    egressCIDRs: [198.51.100.0/24]
    podMetadataPrefixes: [b.example.com]
    gatewayCIDRs: [198.51.100.0/24]
    podSecurity: Enforce
    engineCapabilities: None
    certManager: Present
    gateway: Present
    aiGateway: Present
    lws: Present
    nodeFeatureDiscovery: Present
    dra: Present
    inferenceExtension: Present
    inventory: Managed
    metrics: Present
    inventory: Managed
    values: {lws: {replicaCount: 3}}
  allowedNamespaces: {selector: {matchLabels: {team: b}}}
  taints: [{key: b, value: b, effect: NoExecute}]
  nodePools:
  - name: z
    className: other
    node: {cpu: 11, memory: 11Gi, pods: 11}
    tolerations: [{key: b, operator: Exists, value: b, effect: NoExecute}]
    capabilities:
      memoryPerGpu: 23Gi
      interconnect: nvlink
      precisionSupport: [fp16]
      nvlinkDomainSize: 2
      multiNodeCapable: false
      interNodeBandwidth: ib-200g
      device: nic
    nodeCount: 3
  - {minNodeCount: 3}
  - {maxNodeCount: 3}
"""
_MADE = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: us-1}
spec:
  cluster:
    source: GKE
    gke:
      region: us-central1
      kubernetesVersion: "1.35"
      credentials: {type: ClusterProviderConfig, name: default}
      network: {cidr: 10.1.0.0/16}
      apiAccess: Public
      apiAccessCIDRs: [192.0.2.0/24]
      maintenance: {nodeUpgrades: Held, start: "01:00"}
  nodePools:
  - {name: a, className: l4, nodeCount: 2, zones: [us-central1-a], reservation: a, allowRolling: false}
"""
_OTHER_MADE = """
spec:
  cluster:
    gke:
      region: europe-west4
      kubernetesVersion: "1.36"
      credentials: {type: ProviderConfig, name: other}
      network: {cidr: 10.2.0.0/16}
      apiAccess: DNS
      apiAccessCIDRs: [198.51.100.0/24]
      maintenance: {nodeUpgrades: Automatic, start: "02:00"}
  nodePools:
  - {zones: [us-central1-b], reservation: b, allowRolling: true}
"""
_BROUGHT = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: us-1}
spec:
  cluster:
    source: GKE
    gke:
      region: us-central1
      kubernetesVersion: "1.35"
      network: {existing: {network: a, subnetwork: a, podRange: a, serviceRange: a}}
  nodePools:
  - {name: a, className: l4, zones: [us-central1-a]}
"""
_OTHER_BROUGHT = """
spec:
  cluster:
    gke: {network: {existing: {network: b, subnetwork: b, podRange: b, serviceRange: b}}}
"""
#: Manifests that have every field of their kind together.
WHOLE: dict[str, Manifest] = {
    "class": yaml.safe_load(_CLASS),
    "brought": yaml.safe_load(_CLUSTER),
    "made": yaml.safe_load(_MADE),
    "made in a network": yaml.safe_load(_BROUGHT),
}
OTHER: dict[str, Manifest] = {
    "class": yaml.safe_load(_OTHER_CLASS),
    "brought": yaml.safe_load(_OTHER_CLUSTER),
    "made": yaml.safe_load(_OTHER_MADE),
    "made in a network": yaml.safe_load(_OTHER_BROUGHT),
}
KINDS = ("InferenceClass", "InferenceCluster")
#: A block of GKE with its defaults.
_SMALL = {"region": "us-central1", "kubernetesVersion": "1.35"}
#: A change of several fields, where one of them cannot be changed alone, by the field that it is about.
TOGETHER: dict[str, tuple[Place, Any]] = {
    "spec.allowedNamespaces.from": (("spec", "allowedNamespaces"), {"from": "All"}),
    "spec.stack.gateway": (("spec", "stack"), {"gateway": "Present", "aiGateway": "Present"}),
    "spec.nodePools[].tolerations[].operator": (("spec", "nodePools", 0, "tolerations", 0), {"operator": "Exists"}),
    "spec.cluster.gke.apiAccess": (("spec", "cluster", "gke"), {**_SMALL, "apiAccess": "DNS"}),
    "spec.cluster.gke.region": (
        ("spec",),
        {
            "cluster": {"source": "GKE", "gke": {**_SMALL, "region": "europe-west4"}},
            "nodePools": [{"name": "a", "className": "l4", "zones": ["europe-west4-a"]}],
        },
    ),
}
#: Which manifest each of them is a change of.
OF = {
    "spec.allowedNamespaces.from": "brought",
    "spec.stack.gateway": "brought",
    "spec.nodePools[].tolerations[].operator": "brought",
    "spec.cluster.gke.apiAccess": "made",
    "spec.cluster.gke.region": "made",
}
#: For people alone, as the descriptions say.
FOR_PEOPLE = {
    "spec.description",
    "spec.cluster.existing.provider",
    "spec.cluster.existing.instanceType",
}
#: It decides which block is read, and cannot be changed.
FIXED = {"spec.cluster.source"}
#: There is one value to set.
ONE_VALUE = {"spec.stack.inferenceExtension", "spec.stack.inventory", "spec.provisioning.provider"}


def schema_of(kind: str) -> Manifest:
    found: Manifest = xrds()[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


def fields(schema: Manifest, path: str = "spec") -> Iterator[str]:
    """Yield the path of every value that a spec may have; those that a rule refuses are left out."""
    if str(schema.get("description", "")).startswith("Refused;"):
        return
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")
    elif "additionalProperties" in schema:
        yield from fields(schema["additionalProperties"], f"{path}{{}}")
    elif "properties" in schema:
        for name, each in schema["properties"].items():
            yield from fields(each, f"{path}.{name}")
    else:
        yield path


def values(found: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every value of a manifest that is neither a list nor a mapping, with its place."""
    entries = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else None
    if entries is None:
        yield place, found
        return
    for step, each in entries:
        yield from values(each, (*place, step))


def path_of(kind: str, place: Place) -> str:
    """Return the path in the schema of a place in a manifest."""
    schema, path = {"properties": {"spec": schema_of(kind)}}, ""
    for step in place:
        if "items" in schema:
            schema, path = schema["items"], f"{path}[]"
        elif "properties" in schema:
            schema, path = schema["properties"][str(step)], f"{path}.{step}" if path else str(step)
        elif schema.get("x-kubernetes-preserve-unknown-fields"):
            break
        else:
            schema, path = schema["additionalProperties"], f"{path}{{}}"
    return path


def put(body: Manifest, place: Place, value: Any) -> Manifest:
    """Return a copy of a manifest with another value at a place."""
    changed = deepcopy(body)
    found: Any = changed
    for step in place[:-1]:
        found = found[step]
    found[place[-1]] = value
    return changed


def outcome(body: Manifest) -> Any:
    """Return what is done and reported because of a class or a cluster, and what the scheduler reads of it."""
    is_class = body["kind"] == "InferenceClass"
    a_class = body if is_class else WHOLE["class"]
    if is_class:
        one = {"name": "a", "className": "l4", "nodeCount": 2}
        made = made_of(WHOLE["made"], a_class)
        return (
            made,
            inference_class.compose(Request(given.obj(a_class))).conditions,
            of_cluster(given.cluster(one), a_class),
        )
    return made_of(body, a_class), of_cluster(body, a_class)


def made_of(cluster: Manifest, a_class: Manifest) -> Any:
    """Return what is composed in the cloud, None of a cluster that is brought; pools are handed on as they are."""
    body = given.bodies(given.run(cluster, class_l4=[a_class], residents_us_1=[])).get("managed-cluster")
    if body is None:
        return None
    result = managed.run(body)
    return given.bodies(result), result.conditions, result.requirements, body["spec"]["pools"]


def of_cluster(cluster: Manifest, a_class: Manifest) -> Any:
    """Return what is composed and reported of a cluster beside what is made in the cloud."""
    result = given.run(cluster, given.reached(), class_l4=[a_class], residents_us_1=[])
    published = {**cluster, "status": given.status(result)}
    declared = given.obj(cluster)
    bodies = {name: each for name, each in given.bodies(result).items() if name != "managed-cluster"}
    return (
        result.conditions,
        bodies,
        given.status(result),
        repr(read_cluster(given.obj(published))),
        read_team_isolation(declared),
    )


def changes(which: str) -> Iterator[tuple[str, Manifest]]:
    """Yield for each field that both manifests have the manifest with the other value of it."""
    for path, (place, value) in TOGETHER.items():
        if OF[path] == which:
            yield path, put(WHOLE[which], place, value)
    for place, value in values({"spec": OTHER[which]["spec"]}):
        path = path_of(WHOLE[which]["kind"], place)
        if path not in TOGETHER:
            yield path, put(WHOLE[which], place, value)


def of_kind(kind: str) -> list[str]:
    return [which for which, body in WHOLE.items() if body["kind"] == kind]


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_manifests_have_every_field_and_are_admitted(kind: str) -> None:
    bodies = [WHOLE[which] for which in of_kind(kind)]
    there = {path_of(kind, place) for body in bodies for place, _ in values({"spec": body["spec"]})}
    assert there == set(fields(schema_of(kind)))
    for body in bodies:
        admit(body)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_changes_something(kind: str) -> None:
    read: set[str] = set()
    for which in of_kind(kind):
        before = outcome(WHOLE[which])
        for path, body in changes(which):
            admit(body)
            if outcome(body) != before:
                read.add(path)
    assert set(fields(schema_of(kind))) - read - FOR_PEOPLE - FIXED - ONE_VALUE == set()
