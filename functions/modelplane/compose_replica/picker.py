"""The endpoint picker of a replica: how it chooses among the serving pods, and its objects on the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.readiness import DEPLOYMENT_READY
from modelplane.compose_replica.spec import Engine, Phase, ReplicaSpec
from modelplane.kube.picker import endpoint_picker
from modelplane.model.deployment import PREFILL_DECODE
from modelplane.model.names import LABEL_PICKER, LABEL_WORKLOAD, picker_name
from modelplane.observed.engines import pair_connector
from modelplane.observed.fields import mapping, text
from modelplane.observed.flags import number_in, read_flag
from modelplane.observed.remote import Remote

#: Composition resource name of the picker's Deployment.
_PICKER = "picker"
#: Default number of tokens in a block of an engine's prefix cache.
_BLOCK_SIZE = 16
_LARGEST_BLOCK = 65536
#: Number of uncached tokens from which on the prefill engine reads a prompt.
_UNCACHED_TOKENS = 16
#: How a pod is chosen among those that pass a profile's filter: by its cached prefix, then by its queue.
_CHOICE: tuple[dict[str, Any], ...] = (
    {"pluginRef": "prefix-cache-scorer", "weight": 2},
    {"pluginRef": "queue-scorer", "weight": 1},
    {"pluginRef": "max-score-picker"},
)


@dataclass(frozen=True, slots=True)
class Picker:
    """A replica's endpoint picker: the name of its Service, and its Objects by composition resource name."""

    name: str
    objects: Mapping[str, dict[str, Any]]


def observed_name(remotes: Mapping[str, Remote]) -> str:
    """Return the name of the picker that a replica has on its cluster, "" for none."""
    found = (each for name, each in sorted(remotes.items()) if name == _PICKER or name.startswith(f"{_PICKER}-"))
    return next((text(mapping(each.wanted.get("metadata")).get("name")) for each in found), "")


def _block_size(engines: tuple[Engine, ...]) -> int:
    """Return the block size in the engines' flags, a decode engine's first, because it caches what it answers."""
    for engine in sorted(engines, key=lambda engine: engine.phase is not Phase.DECODE):
        given = read_flag(engine.serving.container, "--block-size", "--page-size")
        if tokens := number_in(given or "", most=_LARGEST_BLOCK):
            return tokens
    return _BLOCK_SIZE


def _scoring(spec: ReplicaSpec) -> list[dict[str, Any]]:
    """Return the plugins of every config. The producer is explicit: by default it does not know block sizes."""
    producer = {"autoTune": False, "blockSizeTokens": _block_size(spec.engines)}
    return [
        {"type": "approx-prefix-cache-producer", "parameters": producer},
        {"type": "prefix-cache-scorer"},
        {"type": "queue-scorer"},
        {"type": "max-score-picker"},
    ]


def _decider(spec: ReplicaSpec) -> dict[str, Any]:
    """Return the plugin that decides whether the prefill engine of a pair reads a prompt."""
    if all(pair_connector(engine.serving.container).optional for engine in spec.engines):
        return {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": _UNCACHED_TOKENS}}
    return {"type": "always-disagg-pd-decider"}


def picker_config(spec: ReplicaSpec) -> dict[str, Any]:
    """Return the EndpointPickerConfig of a replica.

    For a pair, the handler of the profiles, its headers and the producer must all be configured: without one of them
    the picker silently sends everything to the decode engine.
    """
    if spec.mode == PREFILL_DECODE:
        decider = _decider(spec)
        plugins = [
            {"type": "prefill-filter"},
            {"type": "decode-filter"},
            decider,
            {"type": "disagg-headers-handler"},
            {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": decider["type"]}}},
        ]
        profiles = [
            {"name": phase, "plugins": [{"pluginRef": f"{phase}-filter"}, *_CHOICE]} for phase in ("prefill", "decode")
        ]
    else:
        plugins = [{"type": "single-profile-handler"}]
        profiles = [{"name": "default", "plugins": [*_CHOICE]}]
    return {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [*_scoring(spec), *plugins],
        "schedulingProfiles": profiles,
    }


def _selected(instance: Instance) -> tuple[str, str]:
    """Return the name of a replica's picker, and the label with that value by which its pods are selected.

    A picker of an earlier version keeps its name and its selector, which cannot change: another would restart it.
    """
    fresh = picker_name(instance.site.team, instance.replica)
    name = instance.picker or fresh
    return name, LABEL_PICKER if name == fresh else LABEL_WORKLOAD


def compose_way_to_api_server(instance: Instance, seen: Remote | None) -> dict[str, dict[str, Any]]:
    """Return the Object by which a replica's picker reaches the API server, which it watches, where egress is limited.

    `seen` is the observed Object of the team's namespace.
    """
    name, label = _selected(instance)
    found = instance.site.place_way_to_api_server(seen, name, {label: name})
    return {f"{_PICKER}-networkpolicy": found} if found else {}


def compose_picker(instance: Instance, spec: ReplicaSpec) -> Picker:
    """Return the picker of a replica's InferencePool, which has the replica's name.

    The resource name of its Deployment does not end in an engine's name, so it is reported separately.
    """
    site, (name, label) = instance.site, _selected(instance)
    objects = {}
    for made in endpoint_picker(
        name, site.namespace, instance.labels, pool=instance.name, config=picker_config(spec), label=label
    ):
        if made["kind"] == "Deployment":
            objects[_PICKER] = site.place(made, ready_when=DEPLOYMENT_READY, watch=True)
        else:
            objects[f"picker-{made['kind'].lower()}"] = site.place(made)
    return Picker(name, objects)
