"""The GPU pools a cluster publishes: its node pools, with the devices that their classes declare.

A class that a pool names is protected from deletion.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.api.inferencecluster import NodePool
from modelplane.compose_cluster.capabilities import find_capabilities
from modelplane.compose_cluster.inference_class import find_problems
from modelplane.compose_cluster.sources import Provision
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.kube.usage import protected
from modelplane.model.names import API_VERSION
from modelplane.model.observation import Gap
from modelplane.observed.fields import mapping
from modelplane.step import Object, Request


@dataclass(frozen=True, slots=True)
class Published:
    """The entries of `status.gpuPools` in the order of the spec, and messages about pools' classes.

    `caveats` are messages about declared values that the devices contradict: the pools are used without these values.
    """

    entries: tuple[dict[str, Any], ...]
    problems: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def _wrong(name: str, found: Object | Gap) -> str:
    """Return why a class gives no devices, "" when it does."""
    if found is Gap.NOT_FETCHED:
        return f"InferenceClass {name} is not fetched yet"
    if not isinstance(found, Object):
        return sentences(f"InferenceClass {name} does not exist", "Create it, or name another.")
    problems = find_problems(found)
    return f"InferenceClass {name} is not accepted: {'; '.join(problems)}" if problems else ""


def _own_word(pool: NodePool, pods: int | None) -> dict[str, Any]:
    """Return the fields of a pool that the cluster itself declares, whatever its class.

    `pods` is how many pods of engines its nodes take if the pool does not say, None where that is not known.
    """
    tolerations = [each.model_dump(mode="json", exclude_none=True) for each in pool.tolerations or ()]
    node = pool.node.model_dump(mode="json", exclude_none=True) if pool.node else {}
    node = ({"pods": pods} if pods else {}) | node
    return {key: value for key, value in (("node", node), ("tolerations", tolerations)) if value}


#: What a pool without its class means for the others of its cluster, which is not Ready.
_MEANWHILE = "Nothing new is placed on the cluster until then"


def publish(
    request: Request, pools: Iterable[NodePool], provision: Provision, last: Mapping[str, Mapping[str, Any]]
) -> Published:
    """Return the pools to publish, as the source made them; `last` are the entries published before, by name.

    A pool whose class has no valid devices keeps its last published devices, so that a broken class moves no replica; a
    new pool is left out until its class is valid. The number of nodes, their resources and the tolerations are declared
    by the cluster itself and always current. Pools that leave follow, with what was published of them.
    """
    nodes = {name: pool.nodes for name, pool in provision.pools.items()}
    entries: list[dict[str, Any]] = []
    problems = []
    caveats: list[str] = []
    for pool in pools:
        found = request.one(require.inference_class(pool.className))
        wrong = _wrong(pool.className, found)
        published, field = last.get(pool.name), f"spec.nodePools[{pool.name}].className"
        if not wrong and isinstance(found, Object):
            entry = {"name": pool.name, "nodes": nodes[pool.name], "devices": found.body["spec"]["devices"]}
            can = find_capabilities(pool, found, mapping(published))
            capabilities = {"capabilities": can.published} if can.published else {}
            entries.append(entry | capabilities | _own_word(pool, provision.pods))
            caveats += can.problems
        elif published is not None:
            kept = {key: value for key, value in published.items() if key not in ("node", "tolerations")}
            entries.append({**kept, "nodes": nodes[pool.name], **_own_word(pool, provision.pods)})
            problems.append(sentences(f"{field}: {wrong}", "The pool stays as it was last published.", _MEANWHILE))
        else:
            problems.append(sentences(f"{field}: {wrong}", _MEANWHILE))
    leaving = (name for name, pool in provision.pools.items() if pool.leaving and name in last)
    entries += ({**last[name], "nodes": nodes[name], "leaving": True} for name in leaving)
    return Published(tuple(entries), tuple(problems), tuple(caveats))


def protect(request: Request, classes: set[str]) -> dict[str, dict[str, Any]]:
    """Return the ClusterUsages of the classes in use by composition resource name.

    A class that does not exist cannot be protected; an existing Usage stays while a pool names the class.
    """
    reason = f"in use by a node pool of InferenceCluster {request.composite.name}"
    resources = {name: f"class-in-use-{name}" for name in classes}
    return {
        resource: protected(API_VERSION, "InferenceClass", name, reason=reason)
        for name, resource in sorted(resources.items())
        if resource in request.observed or isinstance(request.one(require.inference_class(name)), Object)
    }
