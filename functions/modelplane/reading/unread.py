"""ModelReplicas that were not read, as far as their clusters publish them.

`kubectl get modelplane -n ml` exports every cluster, and the replicas of one namespace only. A cluster publishes how
many replicas it has and what they take of its pools. Where fewer were read, stand-ins take what the others take:
manifests that `observed.replica` reads as replicas that serve. They are never stored or listed; whatever asks for the
replicas of a cluster gets them too.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from modelplane.model.fleet import ClaimKind, Cluster
from modelplane.model.names import API_VERSION, LABEL_CLUSTER, digest
from modelplane.model.replica import Replica
from modelplane.observed.cluster import read_cluster
from modelplane.observed.replica import read_replica
from modelplane.reading.tree import Manifest, Tree, items
from modelplane.scheduling.pools import Charge, Demand, Group, Layout, PoolNodes, layout, size
from modelplane.scheduling.room import charge_of, charges, has_to_fit, read_charge, write_groups
from modelplane.scheduling.words import count
from modelplane.step import Object

#: Namespace and name.
_Name = tuple[str, str]
#: Most groups of pods that are charged one by one; a text that names a billion must not cost memory.
_MOST: Final = 65536
#: The uids of stand-ins begin with it; those of an API server have no slash.
_UID: Final = "unread/"


@dataclass(frozen=True, slots=True)
class Unread:
    """How many of the `replicas` of a cluster were not read, and the stand-ins for them.

    `published`: whether the cluster publishes what its replicas take. If not, the stand-ins take all of its nodes.
    """

    cluster: str
    count: int
    replicas: int
    published: bool
    stand_ins: tuple[Manifest, ...]


def find_unread(clusters: Iterable[Object], replicas: Iterable[Object]) -> dict[str, Unread]:
    """Return, by cluster, what was not read of the clusters that have more replicas than were read."""
    read: dict[str, list[Replica]] = {}
    for replica in map(read_replica, replicas):
        read.setdefault(replica.cluster, []).append(replica)
    found = (_find(obj, read.get(obj.name, ())) for obj in clusters)
    return {each.cluster: each for each in found if each is not None}


def is_stand_in(replica: Manifest) -> bool:
    """Tell whether a ModelReplica stands in for one that was not read."""
    return str(replica["metadata"]["uid"]).startswith(_UID)


def word_unread(unread: Iterable[Unread]) -> str:
    """Return a sentence that says of which clusters replicas were not read, "" if there are none."""
    found = sorted(unread, key=lambda each: each.cluster)
    if not found:
        return ""
    first, *others = (f"{each.count} of {_replicas(each, at)} on {each.cluster}" for at, each in enumerate(found))
    full = [each.cluster for each in found if not each.published]
    taken = "they take what their clusters publish of them"
    unknown = f" ({', '.join(full)}: not published, all nodes)" if full else ""
    return f"Not in the input: {', '.join([first, *others])}; {taken}{unknown}"


def _replicas(unread: Unread, position: int) -> str:
    return str(unread.replicas) if position else count(unread.replicas, "ModelReplica")


def _find(obj: Object, read: Sequence[Replica]) -> Unread | None:
    cluster = read_cluster(obj)
    if cluster.pools is None or cluster.replicas == 0:
        return None
    where, entries = layout(cluster), tuple(items(obj.body, "status", "gpuPools"))
    named = {name for entry in entries for name in _holders(entry)}
    complete = bool(named) and not any(entry.get("moreHolders") for entry in entries)
    counted = [each for each in read if _is_counted(each, where, named, complete=complete)]
    missing = cluster.replicas - len(counted)
    if missing <= 0:
        return None
    rest = _rest(cluster, where, counted)
    charge = _all_nodes(where) if rest is None else rest
    engines = _distribute(charge, [_owners(entry, where, counted) for entry in entries], where)
    stand_ins = tuple(_stand_in(cluster.name, name, found) for name, found in sorted(engines.items()))
    return Unread(cluster.name, missing, cluster.replicas, rest is not None, stand_ins)


def _holders(entry: Manifest) -> list[_Name]:
    found = entry.get("holders")
    names = (each.partition("/") for each in found if isinstance(each, str)) if isinstance(found, list) else ()
    return [(namespace, name) for namespace, _, name in names]


def _is_counted(replica: Replica, where: Layout, named: set[_Name], *, complete: bool) -> bool:
    """Tell whether a replica is one of those that its cluster counts: one that is named, or holds nothing.

    Where not all holders are named (an earlier version named none), every replica counts that is not written by hand or
    has served.
    """
    if (replica.namespace, replica.name) in named:
        return True
    return not has_to_fit(replica) and (not complete or not charges(replica.engines, where))


def _rest(cluster: Cluster, where: Layout, counted: Iterable[Replica]) -> Charge | None:
    """Return what a cluster publishes as charged without what these replicas take, None where it publishes nothing."""
    published = read_charge(cluster)
    if published is None or sum(times for groups in published for _, times in groups) > _MOST:
        return None
    known = charge_of((replica.engines for replica in counted), where)
    left = (Counter(dict(groups)) - Counter(dict(of_pool)) for groups, of_pool in zip(published, known, strict=True))
    return tuple(tuple(sorted(groups.items())) for groups in left)


def _all_nodes(where: Layout) -> Charge:
    """Return a group on each pool of as many pods as it has nodes, each of which leaves nothing of its node."""
    groups = [((_whole_node(pool), pool.nodes),) for pool in where.pools]
    return tuple(((group, 1),) if pool.nodes else () for pool, group in zip(where.pools, groups, strict=True))


def _whole_node(pool: PoolNodes) -> Demand:
    """Return the demand of a pod that leaves nothing of a node; devices that are only matched are never taken."""
    counts = list(pool.hardware.capacity)
    for entry, device in enumerate(pool.hardware.devices):
        counts[entry] *= device.claim is ClaimKind.DRA
    return tuple((each, each) for each in counts)


def _owners(entry: Manifest, where: Layout, counted: Sequence[Replica]) -> list[_Name]:
    """Return the names of a pool's holders that were not read; those that are not published get one of ours."""
    position = where.positions.get(str(entry.get("name")))
    there = [each for each in counted if any(at == position for at, _ in charges(each.engines, where))]
    read = {(each.namespace, each.name) for each in there}
    holders, more = _holders(entry), entry.get("moreHolders")
    named = sorted({*holders} - read)
    unnamed = len(holders) + (more if isinstance(more, int) else 0) - len(there) - len(named)
    return [*named, *(("", f"unread-{number}") for number in range(1, min(unnamed, _MOST) + 1))]


def _distribute(
    charge: Charge, owners: Sequence[Sequence[_Name]], where: Layout
) -> dict[_Name, list[tuple[PoolNodes, Group]]]:
    """Return what each owner takes: one group of every pool that it holds, and the last one what is left."""
    found: dict[_Name, list[tuple[PoolNodes, Group]]] = {}
    for pool, groups, of_pool in zip(where.pools, charge, owners, strict=True):
        names = of_pool or [("", "unread-1")]
        each = [group for group, times in groups for _ in range(times)]
        for number, group in enumerate(each):
            found.setdefault(names[min(number, len(names) - 1)], []).append((pool, group))
    return found


def _stand_in(cluster: str, name: _Name, taken: Iterable[tuple[PoolNodes, Group]]) -> Tree:
    engines = [_engine(f"e{number}", pool, group) for number, (pool, group) in enumerate(taken)]
    metadata = {
        "namespace": name[0],
        "name": name[1],
        "labels": {LABEL_CLUSTER: cluster},
        "uid": f"{_UID}{cluster}/{name[0]}/{name[1]}",
        "resourceVersion": digest(json.dumps(engines), digits=16),
    }
    ready = {"type": "Ready", "status": "True", "reason": "Available"}
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelReplica",
        "metadata": metadata,
        "spec": {"clusterName": cluster, "engines": engines},
        "status": {"served": True, "conditions": [ready]},
    }


def _engine(name: str, pool: PoolNodes, group: Group) -> Mapping[str, object]:
    """Return an engine that takes a group; its members are charged whole nodes should the pool get other devices."""
    charged = write_groups(((group, 1),), len(pool.hardware.counts))
    member = {"role": "Worker", "nodePoolName": pool.name, "worker": {"nodes": max(1, size(group))}}
    return {"name": name, "charged": charged, "members": [member]}
