"""The pod of an engine that takes requests, and what makes it one half of a PrefillDecode pair."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.flags import read_flag
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.member import pod_of
from modelplane.compose_replica.ports import decode_port
from modelplane.compose_replica.spec import Engine, Member, Phase
from modelplane.kube.pod import finding_weights, serving
from modelplane.kube.sidecar import decode_sidecar
from modelplane.model.names import ENGINE_PORT, LABEL_ROLE

#: Where an engine tells others how to fetch a prompt's KV cache from it.
_SIDE_CHANNEL: tuple[dict[str, Any], ...] = (
    {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"},
)


def with_side_channel(engine: Engine, container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the container of an engine's member, told its side channel if the engine is one of a pair.

    The rows come before all others; one that the user sets is the user's.
    """
    if engine.phase is None:
        return dict(container)
    rows = list(container.get("env") or ())
    own = {row.get("name") for row in rows}
    return {**container, "env": [*(row for row in _SIDE_CHANNEL if row["name"] not in own), *rows]}


def serving_pod(instance: Instance, engine: Engine, member: Member, container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template of the pods of `member` around `container`, with which the engine takes requests.

    A decode engine takes them behind a sidecar, on a port of its own.
    """
    told, port = with_side_channel(engine, container), ENGINE_PORT
    labels, sidecars = dict(instance.labels), []
    if engine.phase is not None:
        labels[LABEL_ROLE] = engine.phase.lower()
    if engine.phase is Phase.DECODE:
        port = decode_port(engine)
        sidecars = [decode_sidecar(port)]
    if instance.volume and not told.get("command") and read_flag(told, "--model") is None:
        told = finding_weights(told)
    return pod_of(instance, engine, member, serving(told, port), labels=labels, sidecars=sidecars)
