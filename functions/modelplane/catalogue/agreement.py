"""Refuses flags of a short profile that contradict its other fields, or the flags generated for its nodes.

Each function raises InvalidProfileError with both sides.
"""

from collections.abc import Sequence
from typing import Final

from modelplane.catalogue.arguments import Arguments, Weights
from modelplane.catalogue.flags import (
    DATA_WITHIN_TENSOR,
    DIALECTS,
    HEADLESS,
    Dialect,
    Given,
    find_flag,
    find_values,
    negated,
    positional_model,
)
from modelplane.catalogue.profile import Topology
from modelplane.model.names import ENV_RANK, MODELS_PATH

#: The rank of a pod, which is put into the environment of every gang's pods.
RANK: Final = f"$({ENV_RANK})"
_EXPERT: Final = "replicaTopology.parallelism.expert"
_HIDES: Final = "keeps the leader from serving requests; remove it, the workers alone get it"


def agree_on_weights(arguments: Arguments, dialect: Dialect, weights: Weights) -> None:
    """Refuse weights, a revision or a name other than the ClusterModel's and the deployment's."""
    given = find_flag(arguments.args, dialect.model)
    if given is None and positional_model(arguments.args):
        given = Given(arguments.args[0], "")
    loads = (given.value or given.flag).rstrip("/") if given else weights.model
    mounted = weights.model == MODELS_PATH and loads.startswith(f"{MODELS_PATH}/")
    if given and weights.said and loads != weights.model and not mounted:
        raise arguments.contradicts(given, weights.said)
    revision = find_flag(arguments.args, dialect.revision)
    if revision and weights.revision and revision.value != weights.revision:
        raise arguments.contradicts(revision, f"huggingFace.revision: {weights.revision}")
    names = find_values(arguments.args, dialect.name)
    if names and weights.name not in names:
        raise arguments.contradicts(Given(dialect.name[0], " ".join(names)), f"model.name: {weights.name}")


def agree_on_experts(arguments: Arguments, dialect: Dialect, topology: Topology) -> None:
    """Refuse a flag that turns on expert parallelism if the topology turns it off, and vice versa."""
    given = find_flag(arguments.args, (*dialect.expert, *map(negated, dialect.expert)))
    if given is None or topology.expert is None:
        return
    on = given.value != "1" if dialect.expert_sized else not given.is_negated
    if on != topology.expert:
        said = "enabled" if topology.expert else "disabled"
        raise arguments.refuse("engine.args", f"{given} contradicts {_EXPERT}: {said}; remove one of them")


def refuse_for_one_node(arguments: Arguments, engine: str) -> None:
    """Refuse flags that only engines of several nodes have."""
    dialect = DIALECTS[engine]
    arguments.number(dialect.nodes, "replicaTopology.nodes", 1)
    rank = find_flag(arguments.args, dialect.rank)
    headless = find_flag(arguments.args, HEADLESS) if engine == "vLLM" else None
    if rank and rank.value not in ("0", RANK):
        raise arguments.refuse("engine.args", f"{rank} contradicts replicaTopology.nodes: 1; remove one of them")
    if headless:
        why = f"{headless.flag} keeps the engine from serving requests, and replicaTopology.nodes is 1; remove it"
        raise arguments.refuse("engine.args", why)


def refuse_for_ray(arguments: Arguments, dialect: Dialect, said: str) -> None:
    """Refuse flags by which processes find each other if Ray joins the nodes, according to `said`."""
    for names in (dialect.nodes, dialect.rank, dialect.leader):
        if given := find_flag(arguments.args, names):
            raise arguments.refuse("engine.args", f"{given} contradicts {said}, which gathers the nodes; remove it")
    if headless := find_flag(arguments.args, HEADLESS):
        raise arguments.refuse("engine.args", f"{headless.flag} {_HIDES}")


def refuse_for_gang(arguments: Arguments, engine: str, args: Sequence[str]) -> None:
    """Refuse flags that a leader and workers cannot share, and what an engine refuses on several nodes."""
    dialect = DIALECTS[engine]
    rank, data, leader = (find_flag(args, names) for names in (dialect.rank, dialect.data, dialect.leader))
    if rank and rank.value != RANK:
        raise arguments.refuse("engine.args", f"{rank} gives all nodes one rank; remove it, each node gets its own")
    if leader and "$(" not in leader.value:
        why = f"{leader} gives all replicas one leader; remove it, each replica gets its own"
        raise arguments.refuse("engine.args", why)
    headless = find_flag(args, HEADLESS) if engine == "vLLM" else None
    if headless:
        raise arguments.refuse("engine.args", f"{headless.flag} {_HIDES}")
    spread = engine == "SGLang" and data is not None and data.value != "1"
    if spread and not find_flag(args, DATA_WITHIN_TENSOR):
        why = f"SGLang refuses {data} on several nodes without {DATA_WITHIN_TENSOR[0]}; add that to engine.args"
        raise arguments.refuse("replicaTopology.parallelism", why)
