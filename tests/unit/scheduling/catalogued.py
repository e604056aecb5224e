"""Deployments that name a ClusterModel: its profiles, and pools with capabilities."""

from collections.abc import Mapping
from dataclasses import replace

from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, ModelRef, Profile, Resolution, Role
from modelplane.model.fleet import Device, Pool
from unit.scheduling.scene import gpu


def profile(
    name: str,
    gpus: int = 8,
    requires: Requires | None = None,
    *,
    nodes: int = 1,
    selectors: tuple[str, ...] = (),
    content: str = "",
    clusters: Mapping[str, str] | None = None,
) -> Profile:
    """Return a profile of so many GPUs on each of its nodes, as the short form of a ClusterModel expands to."""
    asked = (DeviceRequest("gpu", gpus, selectors, gpu=True),)
    if nodes == 1:
        members: tuple[Member, ...] = (Member(Role.STANDALONE, 1, asked),)
    else:
        members = (Member(Role.LEADER, 1, asked), Member(Role.WORKER, nodes - 1, asked))
    wanted = replace(requires or Requires(), several_nodes=nodes > 1)
    said = content or f"content of {name}"
    found = Profile((Engine(name, members),), said, name, wanted, clusters or {}, f"r-{name}")
    return replace(found, digest=f"digest of {said}")


def catalogued(*profiles: Profile, replicas: int = 1, pinned: bool = False, **skipped: str) -> Deployment:
    """Return a deployment of a ClusterModel with these profiles, the preferred one first."""
    return Deployment(
        "team",
        "model",
        "uid-team-model",
        profiles,
        replicas=replicas,
        revision="several",
        model=ModelRef("m", pinned=pinned),
        resolution=Resolution(1, skipped=skipped),
    )


def offering(nodes: int, *devices: Device, name: str = "x", **declared: object) -> Pool:
    """Return a pool that declares capabilities (8 GPUs of 80Gi on a node if no devices are said)."""
    return Pool(name, nodes, devices or (gpu(),), Capabilities(**declared))  # type: ignore[arg-type]
