"""The pod of an engine's member, and the claim template through which it claims its devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.spec import Engine, Member
from modelplane.kube.claim import claim_template
from modelplane.kube.pod import EnginePod, pod_template


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim template of a member: its name, None for a member that claims nothing, and its Object."""

    name: str | None = None
    objects: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def claim_of(instance: Instance, engine: Engine, member: Member) -> Claim:
    """Return the member's claim template; its resource name carries its name, which is another for other content."""
    if not member.requests:
        return Claim()
    template = claim_template(instance.workload(engine.name), instance.site.namespace, instance.labels, member.requests)
    name = str(template["metadata"]["name"])
    return Claim(name, {f"resourceclaimtemplate-{name}": instance.site.place(template)})


def pod_of(  # noqa: PLR0913 - what a pod is made of
    instance: Instance,
    engine: Engine,
    member: Member,
    container: Mapping[str, Any],
    *,
    labels: Mapping[str, str] | None = None,
    sidecars: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the member's pod template around `container`; `labels` are ours, over the member's own."""
    return pod_template(
        EnginePod(
            workload=instance.workload(engine.name),
            pool=member.pool,
            container=container,
            labels={**member.labels, **(labels or {})},
            annotations=member.annotations,
            deployment=instance.deployment,
            volume=instance.volume,
            claim=claim_of(instance, engine, member).name,
            sidecars=sidecars,
            pull_secrets=member.pull_secrets,
        )
    )
