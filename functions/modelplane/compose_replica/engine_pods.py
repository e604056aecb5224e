"""The pods of an engine: the template of each member, the devices that it claims, and the halves of a pair."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.spec import Engine, Member, Phase
from modelplane.kube.claim import claim_template
from modelplane.kube.pod import EnginePod, Health, finding_weights, listening, pod_template, serving
from modelplane.kube.sidecar import decode_sidecar
from modelplane.model.names import ENGINE_PORT, LABEL_ROLE
from modelplane.observed.engine_port import engine_port
from modelplane.observed.engines import known_engine, pair_connector
from modelplane.observed.served_name import weights_flag

#: Environment that tells a pair's engines at which address others fetch a prompt's KV cache.
_SIDE_CHANNEL: tuple[dict[str, Any], ...] = (
    {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"},
)


def _claim_template(instance: Instance, engine: Engine, member: Member) -> dict[str, Any] | None:
    if not member.requests:
        return None
    site = instance.site
    return claim_template(instance.workload(engine), site.namespace, instance.labels, member.requests)


def claims_of(instance: Instance, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the Objects of the engine's claim templates by composition resource name.

    The resource name contains the template's name, which depends on the content.
    """
    templates = [_claim_template(instance, engine, member) for member in engine.members]
    return {
        f"resourceclaimtemplate-{template['metadata']['name']}": instance.site.place(template)
        for template in templates
        if template
    }


def _pod(  # noqa: PLR0913 - what a pod is made of
    instance: Instance,
    engine: Engine,
    member: Member,
    container: Mapping[str, Any],
    *,
    labels: Mapping[str, str] | None = None,
    sidecars: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the member's pod template around `container`; `labels` are ours, over the member's own."""
    template = _claim_template(instance, engine, member)
    return pod_template(
        EnginePod(
            replace(member, container=container, labels={**member.labels, **(labels or {})}),
            workload=instance.workload(engine),
            deployment=instance.deployment,
            claim=str(template["metadata"]["name"]) if template else None,
            volume=instance.volume,
            sidecars=sidecars,
            drain_seconds=instance.drain_seconds,
            spread=engine.spread,
            drops_all=instance.drops_all,
        )
    )


def _with_side_channel(engine: Engine, container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the container with the variables of its side channel if the engine is one of a pair.

    They come before all others, so that a user's own variables take precedence.
    """
    if engine.phase is None:
        return dict(container)
    rows = list(container.get("env") or ())
    own = {row.get("name") for row in rows}
    return {**container, "env": [*(row for row in _SIDE_CHANNEL if row["name"] not in own), *rows]}


def worker_pod(instance: Instance, engine: Engine, member: Member, container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template of the pods of `member` around `container`, which take no requests."""
    health = _health(container, engine_port(container).number)
    return _pod(instance, engine, member, listening(_with_side_channel(engine, container), health))


def _health(container: Mapping[str, Any], port: int) -> Health:
    """Return what the engine in a container is asked on a port, unless its container says."""
    known = known_engine(container)
    return Health(port, known.ready, known.live)


def _with_weights(instance: Instance, container: dict[str, Any]) -> dict[str, Any]:
    """Return the container with the path of the cache's weights, unless its arguments already name a model."""
    flag = weights_flag(container) if instance.volume else ""
    return finding_weights(container, flag) if flag else container


def requests_port(engine: Engine) -> int:
    """Return the port to which requests to an engine's pods are sent."""
    return ENGINE_PORT if engine.phase else engine_port(engine.serving.container).number


def serving_pod(instance: Instance, engine: Engine, member: Member, container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template of the pods of `member` around `container`, which take the engine's requests.

    Requests go to the port on which the engine listens. Both engines of a pair take them on the same port: a decode
    engine has a sidecar there, and listens on a port of its own.
    """
    container, port = _with_side_channel(engine, container), requests_port(engine)
    labels, sidecars = dict(instance.labels), []
    if engine.phase is not None:
        labels[LABEL_ROLE] = engine.phase.lower()
    if engine.phase is Phase.DECODE:
        port = engine_port(container).number
        sidecars = [decode_sidecar(port, pair_connector(container).name)]
    container = serving(_with_weights(instance, container), _health(container, port))
    return _pod(instance, engine, member, container, labels=labels, sidecars=sidecars)
