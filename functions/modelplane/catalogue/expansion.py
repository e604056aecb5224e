"""Expands a profile of a ClusterModel to the engines of a ModelDeployment, and what it requires of a pool.

It is one pure function. Everything that follows (matching, room, claims, gangs, rollouts) is the same as for a
deployment that states its engines itself. Inputs and engines have the form of manifests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.catalogue.arguments import Weights
from modelplane.catalogue.launch import command_and_args
from modelplane.catalogue.profile import InvalidProfile, InvalidProfileError, Topology
from modelplane.model.catalogue import Requires
from modelplane.model.deployment import NONE, Role
from modelplane.model.names import MODELS_PATH

#: The request of a short profile for the pool's GPUs; matching to a pool determines the device.
GPU_REQUEST: Final = "gpu"
#: Where the engine of a short profile listens and what it answers: fields of its container.
_LISTENING: Final = ("ports", "startupProbe", "readinessProbe", "livenessProbe")
#: The variable from which engines read the token for a repository.
_TOKEN_VARIABLE: Final = "HF_TOKEN"  # noqa: S105 (its name)


@dataclass(frozen=True, slots=True)
class Expansion:
    """A profile as engines. `resolves_gpu`: their requests `gpu` are for the GPU entry of the pool.

    `serving` is the block of that name, None for none. `cluster_selector` holds labels that a cluster must carry.
    `warnings` are sentences for the user of the deployment.
    """

    name: str
    engines: tuple[dict[str, Any], ...]
    requires: Requires
    resolves_gpu: bool = False
    serving: Mapping[str, Any] | None = None
    cluster_selector: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def driver_selector(driver: str) -> str:
    """Return the CEL text that selects the devices of a driver, to which a request for the pool's GPUs is resolved."""
    return f'device.driver == "{driver}"'


def _requires(block: Mapping[str, Any], *, several_nodes: bool) -> Requires:
    return Requires(
        memory_per_gpu=block.get("memoryPerGpu"),
        interconnect=block.get("interconnect"),
        precisions=tuple(block.get("precisionSupport") or ()),
        nvlink_domain_size=block.get("nvlinkDomainSize"),
        bandwidth=block.get("multiNodeBandwidth"),
        several_nodes=several_nodes,
    )


def _labels(block: Mapping[str, Any]) -> Mapping[str, str]:
    return (block.get("clusterSelector") or {}).get("matchLabels") or {}


def _weights(model: Mapping[str, Any], *, cached: bool) -> Weights:
    source = model.get("huggingFace") or {}
    revision = source.get("revision", "main")
    loaded = MODELS_PATH if cached else source.get("repo", model["model"]["name"])
    said = f"huggingFace.repo: {source['repo']}" if "repo" in source else ""
    if cached:
        said = f"the deployment's modelCacheRef, which mounts the weights at {MODELS_PATH}"
    return Weights(loaded, model["model"]["name"], "" if cached or revision == "main" else revision, said)


def _env(engine: Mapping[str, Any], model: Mapping[str, Any], *, cached: bool) -> list[dict[str, Any]]:
    """Return the environment of an engine, with the token for the weights if it downloads them itself."""
    env = list(engine.get("env") or ())
    token = (model.get("huggingFace") or {}).get("tokenSecretRef")
    if token and not cached and not any(each["name"] == _TOKEN_VARIABLE for each in env):
        key = {"name": token["name"], "key": token.get("key", "token")}
        env.append({"name": _TOKEN_VARIABLE, "valueFrom": {"secretKeyRef": key}})
    return env


def _devices(topology: Topology) -> list[dict[str, Any]]:
    """Return the device requests of each pod: the pool's GPUs first, with the profile's own conditions on them."""
    declared = topology.devices
    own = next((each for each in declared if each["name"] == GPU_REQUEST), {})
    gpu = {"name": GPU_REQUEST, "count": topology.gpus, "selectors": list(own.get("selectors") or ())}
    return [gpu, *(dict(each) for each in declared if each["name"] != GPU_REQUEST)]


def _container(engine: Mapping[str, Any], env: list[dict[str, Any]], command: list[str], args: list[str]) -> Any:
    container: dict[str, Any] = {"name": "engine", "image": engine["image"]}
    parts: dict[str, Any] = {"command": command, "args": args, "env": env}
    return container | {name: value for name, value in parts.items() if value}


def _short_form(profile: Mapping[str, Any], model: Mapping[str, Any], *, cached: bool) -> Expansion:
    topology = Topology.read(profile)
    engine = profile["engine"]
    env = _env(engine, model, cached=cached)
    launched, warnings = command_and_args(profile, topology, _weights(model, cached=cached))
    members = []
    for role, (command, args) in launched.items():
        # A Worker takes no requests, and listens nowhere.
        listening = {name: engine[name] for name in _LISTENING if name in engine and role != Role.WORKER}
        spec: dict[str, Any] = {"containers": [_container(engine, env, command, args) | listening]}
        if engine.get("imagePullSecrets"):
            spec["imagePullSecrets"] = list(engine["imagePullSecrets"])
        member: dict[str, Any] = {"role": role, "nodeSelector": {"devices": _devices(topology)}}
        if role == Role.WORKER:
            member["worker"] = {"nodes": topology.nodes - 1}
        members.append(member | {"template": {"spec": spec}})
    shares = {"replicasAcrossNodes": NONE} if topology.across_nodes == NONE else {}
    return Expansion(
        name=profile["name"],
        engines=({"name": profile["name"], **shares, "members": members},),
        requires=_requires(topology.requires, several_nodes=topology.nodes > 1),
        resolves_gpu=True,
        cluster_selector=_labels(profile),
        warnings=warnings,
    )


def _long_form(profile: Mapping[str, Any]) -> Expansion:
    engines = tuple(dict(engine) for engine in profile["engines"])
    gangs = any(len(engine["members"]) > 1 for engine in engines)
    return Expansion(
        name=profile["name"],
        engines=engines,
        requires=_requires(profile.get("requires") or {}, several_nodes=gangs),
        serving=profile.get("serving"),
        cluster_selector=_labels(profile),
    )


def expand(model: Mapping[str, Any], profile: Mapping[str, Any], *, cached: bool) -> Expansion | InvalidProfile:
    """Return the expansion of a profile. `model` is the ClusterModel's spec, `profile` an entry of its `serving`.

    Both must be valid for the API. `cached`: the weights are mounted from a ModelCache, else engines download them.
    """
    try:
        return _long_form(profile) if "engines" in profile else _short_form(profile, model, cached=cached)
    except InvalidProfileError as error:
        return error.found
