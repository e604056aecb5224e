"""A pair of engines that serves together: one reads prompts, the other writes answers behind a sidecar."""

from modelplane.compose_replica import ports
from modelplane.compose_replica.spec import Phase, ReplicaSpec


def wrong(spec: ReplicaSpec) -> list[str]:
    """Return in words what keeps a replica from serving as a pair: its engines, and the decode engine's port."""
    if sorted(str(engine.phase) for engine in spec.engines) != [Phase.DECODE, Phase.PREFILL]:
        return ["spec.engines: PrefillDecode takes two engines, one with phase Prefill and one with phase Decode"]
    return ports.refused(spec)
