"""What the pods of a replica are made of, as digests: to tell what is outdated from what only looks different.

Fields at their default are left out, so that a default that a new version introduces restarts nothing; so is
`copies`, of which a difference restarts no pod.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from modelplane.api import modeldeployment, modelreplica
from modelplane.model.deployment import PREFERRED
from modelplane.model.names import ANNOTATION_PICKER
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.resources import lift
from modelplane.step import Object

_Model = TypeVar("_Model", bound=BaseModel)

#: What of a member is where it runs and what it claims there, not what its pods are made of.
_PLACING: Final = ("nodeSelector", "nodePoolName", "deviceRequests", "sharedMemory", "tolerations", "worker")
#: What of a replica's spec its pods are not made of.
_NOT_IN_PODS: Final = ("crossplane", "clusterName", "builder", "volume", "ending", "profile")


#: The default of spec.drainSeconds: a replica of a version that had no such field asks for the same.
_DRAIN: Final = modelreplica.ModelReplicaSpec.model_fields["drainSeconds"].default


def _reduced(model: type[_Model], value: Any) -> Any:
    """Return a block without the fields that stand at their default; one that cannot be read as it is."""
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
    """Return an engine without `copies`, and without what stands at a default that its XRD does not write."""
    kept = _without(engine, "copies")
    return _without(kept, "replicasAcrossNodes") if kept.get("replicasAcrossNodes") == PREFERRED else kept


def _pods_of(engine: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an engine's pods are made of, wherever it is placed."""
    members = [_without(lift(member), *_PLACING) for member in mappings(engine.get("members"))]
    return {**_made_of(engine), "members": members}


def _chosen(obj: Object) -> list[Any]:
    """Return what pods are made of beside engines and serving: the cache, the endpoint picker, and the drain."""
    spec = mapping(obj.body.get("spec"))
    picker = mapping(obj.metadata.get("annotations")).get(ANNOTATION_PICKER)
    cache = mapping(spec.get("modelCacheRef")).get("name")
    drain = spec.get("drainSeconds", _DRAIN)
    return [cache, picker, *([{"drainSeconds": drain}] if drain != _DRAIN else [])]


def own_choice(obj: Object) -> str:
    """Return the digest of what a ModelDeployment itself asks of pods, whatever its ClusterModel says.

    Of a ModelReplica it is what its deployment asked of it so.
    """
    return _digest(_chosen(obj))


def _content(engines: list[Any], spec: Mapping[str, Any], obj: Object) -> str:
    serving = _reduced(modelreplica.Serving, spec.get("serving") or {})
    by_name = sorted((_pods_of(mapping(engine)) for engine in engines), key=lambda engine: str(engine.get("name")))
    return _digest([by_name, serving, *_chosen(obj)])


def wanted_content(deployment: Object) -> str:
    """Return the digest of what a ModelDeployment asks pods to be made of, but for where they run and their claims."""
    spec = mapping(deployment.body.get("spec"))
    engines = [_reduced(modeldeployment.Engine, engine) for engine in mappings(spec.get("engines"))]
    return _content(engines, spec, deployment)


def carried_content(replica: Object) -> str:
    """Return the same digest of what a ModelReplica carries: equal to the wanted one where its pods are as asked."""
    spec = mapping(replica.body.get("spec"))
    engines = [_reduced(modelreplica.Engine, engine) for engine in mappings(spec.get("engines"))]
    return _content(engines, spec, replica)


def profile_digest(spec: Mapping[str, Any]) -> str:
    """Return the digest of all that a profile comes to in a deployment's spec."""
    return _digest([spec.get("engines"), spec.get("serving")])


def revision(deployment: Object) -> str:
    """Return the hash of all that a ModelDeployment asks a replica to run, its device requests included."""
    spec = mapping(deployment.body.get("spec"))
    engines = [_made_of(_reduced(modeldeployment.Engine, each)) for each in mappings(spec.get("engines"))]
    return _digest([_content([], spec, deployment), engines])[:8]


def stamp_digest(replica: Object, volume: str) -> str:
    """Return the digest of all that the pods of a ModelReplica are made of, its pools and claims included.

    `volume` is the claim that they mount, "" for none: a replica written by hand has it in no field.
    """
    spec = _reduced(modelreplica.ModelReplicaSpec, replica.body.get("spec"))
    blocks = {key: value for key, value in mapping(spec).items() if value and key not in _NOT_IN_PODS}
    engines = [_made_of(mapping(engine)) for engine in mappings(blocks.get("engines"))]
    picker = mapping(replica.metadata.get("annotations")).get(ANNOTATION_PICKER)
    return _digest([{**blocks, "engines": engines}, picker, volume])
