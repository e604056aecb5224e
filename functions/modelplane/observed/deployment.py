"""Reads a ModelDeployment, strictly: through the models generated from its XRD."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from modelplane.api import modeldeployment as api
from modelplane.catalogue import GPU_REQUEST
from modelplane.model.deployment import (
    Deployment,
    DeviceRequest,
    Engine,
    Member,
    ModelRef,
    Profile,
    Role,
    Toleration,
)
from modelplane.model.fleet import Effect
from modelplane.model.observation import Malformed
from modelplane.model.pod_metadata import acting
from modelplane.model.rollout import Amount, Rollout
from modelplane.observed.bounds import find_over_bound
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.memo import once_per_version
from modelplane.observed.resources import read_asked, read_shared_memory
from modelplane.observed.stamp import interface, own_choice, revision, wanted_content
from modelplane.observed.strict import read_strictly
from modelplane.step import RESPONSE_LIMIT, Object

#: Bytes of a response for each replica besides what is copied from the deployment, and for the DeviceClass of a
#: request, which is in its spec and in its placement.
_EACH: Final = 4096
_CLASS_NAME: Final = 600


def _request(device: api.Device, *, resolves_gpu: bool) -> DeviceRequest:
    selectors = tuple(selector.cel or "" for selector in device.selectors)
    return DeviceRequest(device.name, device.count, selectors, resolves_gpu and device.name == GPU_REQUEST)


def _member(member: api.Member, *, resolves_gpu: bool) -> Member:
    role = Role(member.role)
    pods = member.worker.nodes if role is Role.WORKER and member.worker else 1
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = tuple(_request(device, resolves_gpu=resolves_gpu) for device in devices)
    if not _states_resources(member.template):
        return Member(role, pods, requests)
    pod = mapping(member.template.model_dump(mode="json", exclude_none=True)["spec"])
    return Member(role, pods, requests, read_asked(pod["containers"][0].get("resources")), read_shared_memory(pod))


def _states_resources(template: api.Template) -> bool:
    """Tell whether a template has anything about CPU and memory; most do not, and are not read further."""
    spec = template.spec
    return bool(spec and spec.containers and (spec.sharedMemory or spec.containers[0].resources))


def read_engine(engine: api.Engine, *, resolves_gpu: bool = False) -> Engine:
    """Return an engine; with `resolves_gpu` its requests of that name are for the GPUs of the pool."""
    members = tuple(_member(member, resolves_gpu=resolves_gpu) for member in engine.members)
    return Engine(engine.name, members, engine.copies)


def _model_ref(ref: api.ModelRef) -> ModelRef:
    return ModelRef(ref.name, frozenset(ref.profiles) if ref.profiles else None, ref.updates == "Pinned")


def _toleration(toleration: api.Toleration) -> Toleration:
    return Toleration(
        key=toleration.key or "",
        exists=toleration.operator == "Exists",
        value=toleration.value or "",
        effect=Effect(toleration.effect) if toleration.effect else None,
    )


def _amount(given: int | str) -> Amount:
    """Return a number of replicas, or a percentage; an invalid value reads as 0."""
    if isinstance(given, int):
        return Amount(max(0, given))
    digits = given.removesuffix("%")
    return Amount(int(digits) if digits.isascii() and digits.isdecimal() else 0, percent=True)


def _rollout(rollout: api.Rollout) -> Rollout:
    return Rollout(
        max_surge=_amount(rollout.maxSurge),
        max_unavailable=_amount(rollout.maxUnavailable),
        paused=rollout.paused,
        follow_selectors=rollout.followSelectors,
        follow_upgrades=rollout.followUpgrades,
    )


def count_carried(obj: Object) -> int:
    """Return how many replicas of the deployment one response can carry, each with its endpoint and its placement.

    The size of a replica is estimated from the JSON of the engines; a protobuf Struct is up to a half longer.
    """
    spec = mapping(obj.body.get("spec"))
    replica = {field: spec.get(field) for field in ("engines", "serving", "modelCacheRef")}
    labels = [spec.get("replicaLabels")] * 2
    written = json.dumps([replica, labels], separators=(",", ":"), default=str)
    return RESPONSE_LIMIT // (_EACH + written.count('"selectors"') * _CLASS_NAME + len(written) * 3 // 2)


def acting_metadata(engines: Iterable[api.Engine]) -> frozenset[str]:
    """Return the labels and annotations of engines' pods that have an effect on clusters."""
    templates = (member.template.metadata for engine in engines for member in engine.members)
    blocks = (block for each in templates if each for block in (each.labels, each.annotations))
    return acting(key for block in blocks for key in block or {})


def _own_profile(obj: Object, spec: api.ModelDeploymentSpec) -> Profile:
    engines = spec.engines or []
    stated = mapping(obj.body.get("spec"))
    return Profile(
        tuple(map(read_engine, engines)),
        wanted_content(obj),
        acting=acting_metadata(engines),
        interface=interface(stated, stated.get("engines")),
    )


@once_per_version
def read_deployment(obj: Object) -> Deployment | Malformed:
    """Return the deployment, or Malformed with the first field that cannot be read.

    A deployment that names a ClusterModel has no profiles yet: see `catalogue.resolve`.
    """
    spec = read_strictly(api.ModelDeploymentSpec, obj)
    if isinstance(spec, Malformed):
        return spec
    if bool(spec.engines) == bool(spec.modelRef):
        return Malformed(obj.kind, obj.name, "spec.engines", "give either engines or modelRef")
    return Deployment(
        namespace=obj.namespace,
        name=obj.name,
        uid=text(obj.metadata.get("uid")),
        profiles=() if spec.modelRef else (_own_profile(obj, spec),),
        created=text(obj.metadata.get("creationTimestamp")),
        replicas=spec.replicas,
        cluster_selector=(spec.clusterSelector.matchLabels if spec.clusterSelector else None) or {},
        tolerations=tuple(_toleration(toleration) for toleration in spec.tolerations or ()),
        cache=spec.modelCacheRef.name if spec.modelCacheRef else None,
        rollout=_rollout(spec.rollout) if spec.rollout else Rollout(),
        revision=revision(obj),
        over_bound=find_over_bound(obj),
        carried=count_carried(obj),
        model=_model_ref(spec.modelRef) if spec.modelRef else None,
        choice=own_choice(obj),
    )


def listed_replicas(obj: Object) -> frozenset[str] | None:
    """Return the names of the replicas in the deployment's own status, None if it has no list."""
    placements = mapping(obj.body.get("status")).get("placements")
    if not isinstance(placements, list):
        return None
    return frozenset(text(placement.get("name")) for placement in mappings(placements))


def listed_choices(obj: Object) -> Mapping[str, str]:
    """Return why replicas were placed where they are, by name, as the deployment's own status has it."""
    placements = mappings(mapping(obj.body.get("status")).get("placements"))
    return {text(each.get("name")): text(each.get("why")) for each in placements}
