"""Digests of everything that determines a replica's pods, by which outdated replicas are recognized.

Fields at their default are left out, so that a new default restarts nothing, and so is `copies`, whose change restarts
no pod.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from modelplane.api import modeldeployment, modelreplica
from modelplane.model.deployment import PREFERRED, PREFILL_DECODE, Role
from modelplane.model.names import ANNOTATION_PICKER, MODELS_PATH
from modelplane.observed.engine_port import engine_port
from modelplane.observed.fields import count, mapping, mappings
from modelplane.observed.resources import lift
from modelplane.observed.served_name import served_name, serving_container, weights_flag
from modelplane.step import Object

_Model = TypeVar("_Model", bound=BaseModel)

#: Fields of a member that determine where it runs and what it claims, but not the content of its pods.
_PLACING: Final = ("nodeSelector", "nodePoolName", "deviceRequests", "sharedMemory", "tolerations", "worker")
#: Fields of a replica's spec that do not determine the content of its pods.
_NOT_IN_PODS: Final = ("crossplane", "clusterName", "builder", "volume", "ending", "profile")


#: The default of spec.drainSeconds, also for replicas of a version without this field.
_DRAIN: Final = modelreplica.ModelReplicaSpec.model_fields["drainSeconds"].default


def _reduced(model: type[_Model], value: Any) -> Any:
    """Return a block without fields at their default; an unreadable block unchanged."""
    try:
        return model.model_validate(value).model_dump(mode="json", exclude_defaults=True)
    except ValidationError:
        return value


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without(block: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key not in fields}


def _made_of(engine: Mapping[str, Any]) -> dict[str, Any]:
    """Return an engine without `copies` and without fields at a default that its XRD does not write."""
    kept = _without(engine, "copies")
    return _without(kept, "replicasAcrossNodes") if kept.get("replicasAcrossNodes") == PREFERRED else kept


def _pods_of(engine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an engine's pods, independent of its placement."""
    members = [_without(lift(member), *_PLACING) for member in mappings(engine.get("members"))]
    return {**_made_of(engine), "members": members}


def _chosen(obj: Object) -> list[Any]:
    """Return the content of pods besides engines and serving: the cache, the endpoint picker, and the drain."""
    spec = mapping(obj.body.get("spec"))
    picker = mapping(obj.metadata.get("annotations")).get(ANNOTATION_PICKER)
    cache = mapping(spec.get("modelCacheRef")).get("name")
    drain = spec.get("drainSeconds", _DRAIN)
    return [cache, picker, *([{"drainSeconds": drain}] if drain != _DRAIN else [])]


def own_choice(obj: Object) -> str:
    """Return the digest of a ModelDeployment's own fields that affect pods, without its ClusterModel's.

    For a ModelReplica it is the digest of the fields that its deployment gave it.
    """
    return _digest(_chosen(obj))


def _content(engines: list[Any], spec: Mapping[str, Any], obj: Object) -> str:
    serving = _reduced(modelreplica.Serving, spec.get("serving") or {})
    by_name = sorted((_pods_of(mapping(engine)) for engine in engines), key=lambda engine: str(engine.get("name")))
    return _digest([by_name, serving, *_chosen(obj)])


def wanted_content(deployment: Object) -> str:
    """Return the digest of the pods' content that a ModelDeployment asks for, without placement and claims."""
    spec = mapping(deployment.body.get("spec"))
    engines = [_reduced(modeldeployment.Engine, engine) for engine in mappings(spec.get("engines"))]
    return _content(engines, spec, deployment)


def carried_content(replica: Object) -> str:
    """Return the same digest for a ModelReplica's spec: equal to the wanted one if its pods are as asked."""
    spec = mapping(replica.body.get("spec"))
    engines = [_reduced(modelreplica.Engine, engine) for engine in mappings(spec.get("engines"))]
    return _content(engines, spec, replica)


def interface(spec: Mapping[str, Any], engines: Any) -> str:
    """Return the digest of what clients see of engines: names, roles, ports, and the models that they serve.

    While it stays, pods of two specs can serve side by side. "" where an engine has one copy alone, and for a pair: its
    halves pass each other KV caches, which those of another spec may not be able to read.
    """
    if mapping(spec.get("serving")).get("mode") == PREFILL_DECODE:
        return ""
    found, weights = [], MODELS_PATH if spec.get("modelCacheRef") else ""
    for engine in mappings(engines):
        _, container = serving_container(engine)
        roles = sorted(str(member.get("role", Role.STANDALONE)) for member in mappings(engine.get("members")))
        if count(engine.get("copies", 1)) <= 1:
            return ""
        model = served_name(container) or (weights if weights_flag(container) else "")
        found.append([engine.get("name"), roles, engine_port(container).number, model])
    return _digest(sorted(found, key=str)) if found else ""


def profile_digest(spec: Mapping[str, Any]) -> str:
    """Return the digest of a profile in a deployment's spec."""
    return _digest([spec.get("engines"), spec.get("serving")])


def revision(deployment: Object) -> str:
    """Return the hash of everything that a ModelDeployment asks a replica to run, including device requests."""
    spec = mapping(deployment.body.get("spec"))
    engines = [_made_of(_reduced(modeldeployment.Engine, each)) for each in mappings(spec.get("engines"))]
    return _digest([_content([], spec, deployment), engines])[:8]


def stamp_digest(replica: Object, volume: str) -> str:
    """Return the digest of everything that determines a ModelReplica's pods, including pools and claims.

    `volume` is the claim that they mount, "" for none: a hand-written replica has no field for it.
    """
    spec = _reduced(modelreplica.ModelReplicaSpec, replica.body.get("spec"))
    blocks = {key: value for key, value in mapping(spec).items() if value and key not in _NOT_IN_PODS}
    engines = [_made_of(mapping(engine)) for engine in mappings(blocks.get("engines"))]
    picker = mapping(replica.metadata.get("annotations")).get(ANNOTATION_PICKER)
    return _digest([{**blocks, "engines": engines}, picker, volume])
