"""Fleets in a few words: devices, pools, clusters and deployments, and a scene in which passes are carried out."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role, Toleration
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Effect, Pool, Taint
from modelplane.model.names import replica_resource
from modelplane.model.observation import Gap
from modelplane.model.placement import CacheState, FleetView, Footprint, Needs, Placement, Schedule, Stamp
from modelplane.model.refusal import Refusal
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from modelplane.model.rollout import Amount, Rollout
from modelplane.schedule.rounds import CALLS, Rounds
from modelplane.scheduling import schedule
from modelplane.scheduling.matching.demands import Node
from modelplane.scheduling.matching.match import MemberOption, explain, keys_of, match_devices, match_member
from modelplane.scheduling.matching.selectors import evaluate
from modelplane.scheduling.pools.hardware import Hardware
from modelplane.scheduling.search_budget import Meter
from publishing import published

GPU = "gpu.nvidia.com"
ANY = f'device.driver == "{GPU}"'
NIC = 'device.driver == "nic.example.com"'
TEAM = "team"
#: A rollout that changes every replica where it stands at once.
IN_PLACE = Rollout(max_surge=Amount(0), max_unavailable=Amount(500))


def memory(amount: str) -> str:
    """Return a selector for at least this much memory."""
    return f'device.capacity["{GPU}"].memory.compareTo(quantity("{amount}")) >= 0'


def model(name: str) -> str:
    """Return a selector for a model; it fails with an error on a device that declares none."""
    return f'device.attributes["{GPU}"].model == "{name}"'


def gpu(count: int = 8, gib: int = 80, name: str = "gpu", model: str = "h100", device_class: str = GPU) -> Device:
    """Return GPUs: `count` on a node, each with `gib` Gi of memory."""
    attributes = (Attribute("model", "string", model),) if model else ()
    return Device(name, GPU, device_class, count, attributes=attributes, capacity=(("memory", f"{gib}Gi"),))


def nic(count: int = 1, claim: ClaimKind = ClaimKind.SYNTHETIC) -> Device:
    """Return NICs, that are only matched unless said otherwise."""
    return Device("nic", "nic.example.com", None if claim is ClaimKind.SYNTHETIC else "nic", count, claim)


def match(member: Member, on: Hardware) -> tuple[MemberOption, ...] | Refusal:
    """Return what a member of engine `main` can claim on hardware, or why nothing."""
    keys = keys_of(on)
    verdicts = [tuple(evaluate(each.selectors, device) for device in on.devices) for each in member.requests]
    matches = [match_devices(of_request, keys) for of_request in verdicts]
    found = match_member("main", member, matches, Node(on.counts, keys), Meter())
    return (
        explain(found, member, [*zip(matches, verdicts, strict=True)], on, Meter())
        if isinstance(found, Refusal)
        else found
    )


def pool(nodes: int, *devices: Device, name: str = "x") -> Pool:
    """Return a pool of nodes with these devices (8 GPUs if none are said)."""
    return Pool(name, nodes, devices or (gpu(),))


def cluster(name: str, *pools: Pool, taints: Iterable[tuple[str, Effect]] = (), **labels: str) -> Cluster:
    """Return a cluster that takes replicas."""
    repelling = tuple(Taint(key, effect) for key, effect in taints)
    return Cluster(name, labels, ready=True, address="192.0.2.1", taints=repelling, pools=pools)


def nodes(**counts: int) -> tuple[Cluster, ...]:
    """Return clusters of one pool each, with so many nodes of 8 GPUs."""
    return tuple(cluster(name, pool(count)) for name, count in counts.items())


def request(count: int = 8, *selectors: str, name: str = "gpu") -> DeviceRequest:
    """Return a request for devices that satisfy all selectors (any GPU if none are said)."""
    return DeviceRequest(name, count, selectors or (ANY,))


def standalone(*requests: DeviceRequest, name: str = "main", copies: int = 1) -> Engine:
    """Return an engine of one pod a copy."""
    return Engine(name, (Member(Role.STANDALONE, 1, requests or (request(),)),), copies)


def gang(leader: Iterable[DeviceRequest], worker: Iterable[DeviceRequest], workers: int = 1) -> Engine:
    """Return an engine of a leader and workers."""
    return Engine("main", (Member(Role.LEADER, 1, tuple(leader)), Member(Role.WORKER, workers, tuple(worker))))


def deployment(*engines: Engine, replicas: int = 1, name: str = "model", namespace: str = TEAM) -> Deployment:
    """Return a deployment (whole nodes of 8 GPUs if no engine is said). Its uid is made of namespace and name."""
    return Deployment(
        namespace, name, f"uid-{namespace}-{name}", (Profile(engines or (standalone(),)),), replicas=replicas
    )


def at_once(one: Deployment) -> Deployment:
    """Return the deployment, whose edits reach every replica where it stands at once."""
    return replace(one, rollout=IN_PLACE)


def tolerating(one: Deployment, key: str) -> Deployment:
    """Return the deployment, tolerating every taint of that key."""
    return replace(one, tolerations=(Toleration(key, exists=True),))


def stamped(
    pool_name: str = "x", count: int = 8, *, copies: int = 1, selectors: tuple[str, ...] = (ANY,)
) -> StampedEngine:
    """Return a standalone engine as it is stamped on a replica."""
    claim = Claim("gpu", GPU, count, selectors)
    return StampedEngine("main", (StampedMember(Role.STANDALONE, pool_name, 1, (claim,)),), copies)


def replica(
    owner: Deployment | None, place: str, *engines: StampedEngine, age: int = 0, serves: bool = True
) -> Replica:
    """Return a replica at `cluster/index`; a higher `age` is older. Without owner it is a hand-written one."""
    on, _, index = place.partition("/")
    uid = f"{owner.uid if owner else 'hand'}-{on}-{index}"
    return Replica(
        namespace=owner.namespace if owner else TEAM,
        name=uid,
        uid=uid,
        cluster=on,
        engines=engines or (stamped(),),
        owner=owner.uid if owner else "",
        resource=replica_resource(on, int(index)),
        index=int(index),
        created=f"2025-01-01T00:{59 - age:02}:00Z",
        ready=serves,
        has_served=serves,
        served_engines=(engines or (stamped(),)) if serves else None,
    )


def _given(composed: Replica, one: Deployment, placement: Placement) -> Replica:
    """Return a replica with what is composed into it of the profile that it is placed with."""
    profile = one.find_profile(placement.profile)
    content = profile.content if profile else composed.content
    seen = profile.interface if profile else composed.interface
    given = replace(composed, profile=placement.profile, content=content, choice=one.choice, interface=seen)
    model = one.model.name if one.model else ""
    return replace(given, model=model, digest=profile.digest) if profile else given


class Scene:
    """Clusters and replicas; passes are answered what they need, and carried out when asked."""

    def __init__(self, clusters: Iterable[Cluster], replicas: Iterable[Replica] = ()) -> None:
        self.clusters = {each.name: each for each in clusters}
        self.replicas = {each.uid: each for each in replicas}
        self.cache: Footprint | CacheState | Gap = CacheState.NOT_REQUIRED
        self.namespace: dict[str, str] = {}
        self.asked: list[Needs] = []
        self._passes = 0

    def view(self, one: Deployment, needs: Needs) -> FleetView:
        """Return what fetching `needs` gives to a deployment."""
        everything = tuple(self.replicas.values())
        wanted: Mapping[str, str] = one.cluster_selector
        listed = tuple(c for c in self.clusters.values() if all(c.labels.get(k) == v for k, v in wanted.items()))
        return FleetView(
            own=tuple(r for r in everything if r.owner == one.uid and not r.deleting),
            clusters={name: self.clusters.get(name, Gap.ABSENT) for name in needs.clusters},
            candidates=tuple(published(c, everything) for c in listed) if needs.candidates else Gap.NOT_FETCHED,
            residents={name: tuple(r for r in everything if r.cluster == name) for name in needs.residents},
            siblings=tuple(r for r in everything if r.owner == one.uid) if needs.siblings else Gap.NOT_FETCHED,
            cache=self.cache if needs.cache or one.cache is None else Gap.NOT_FETCHED,
            namespace=self.namespace if needs.namespace else Gap.NOT_FETCHED,
        )

    def decide(self, one: Deployment) -> Schedule:
        """Return what a pass decides, and note in `asked` what it asked for."""
        needs, self.asked = Needs(), []
        while isinstance(
            outcome := schedule(one, replace(self.view(one, needs), final=Rounds(len(self.asked)).final)), Needs
        ):
            self.asked.append(outcome)
            assert len(self.asked) < CALLS, "Crossplane fails the pass"
            needs = Needs(
                needs.clusters | outcome.clusters,
                needs.residents | outcome.residents,
                needs.candidates or outcome.candidates,
                needs.siblings or outcome.siblings,
                needs.cache or outcome.cache,
                needs.namespace or outcome.namespace,
            )
        return outcome

    def run(self, one: Deployment) -> Schedule:
        """Decide, and carry it out."""
        decided = self.decide(one)
        self.carry_out(one, decided)
        return decided

    def carry_out(self, one: Deployment, decided: Schedule) -> None:
        """Compose what was decided."""
        self._passes += 1
        for end in decided.ending:
            del self.replicas[end.replica.uid]
        for placement in decided.placements:
            known = placement.replica
            if known is None:
                born = replica(one, f"{placement.cluster}/{placement.index}", *placement.engines, serves=False)
                made = f"2025-02-01T00:{self._passes:02}:00Z"
                self.replicas[born.uid] = _given(replace(born, created=made), one, placement)
            elif placement.stamp is not Stamp.HOLD:
                self.replicas[known.uid] = _given(replace(known, engines=placement.engines), one, placement)

    def serve(self, *uids: str) -> None:
        """Let replicas serve with the engines they have; all of them if none are said."""
        for uid in uids or tuple(self.replicas):
            r = self.replicas[uid]
            now = replace(r, ready=True, stale=False, has_served=True)
            now = replace(now, served_engines=r.engines, served_content=r.content, complete=True)
            self.replicas[uid] = replace(now, served_interface=r.interface)

    def flap(self, *uids: str) -> None:
        """Let replicas say that they are not Ready."""
        self.replicas.update({uid: replace(self.replicas[uid], ready=False) for uid in uids})

    def change(self, name: str, **fields: object) -> None:
        """Change fields of a cluster."""
        self.clusters[name] = replace(self.clusters[name], **fields)  # type: ignore[arg-type]


def places(decided: Schedule) -> list[str]:
    """Return where replicas are, as `cluster/index`; one that is leaving has a minus sign before it."""
    return [f"{'-' if p.leaving else ''}{p.cluster}/{p.index}" for p in decided.placements]


def pools_of(placement: Placement) -> dict[str, str]:
    """Return the pool of each engine."""
    return {engine.name: engine.pool for engine in placement.engines}
