"""How the pods of a short profile are started: its arguments, with the flags that are generated where it lacks them.

What is given wins and must agree with what the profile says elsewhere. An engine with a `command`, or one whose name is
Other, gets exactly what is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.catalogue.flags import (
    BACKEND,
    DATA_WITHIN_TENSOR,
    DIALECTS,
    HEADLESS,
    HOST,
    PORT,
    Dialect,
    find_flag,
    positional_model,
)
from modelplane.catalogue.profile import InvalidProfileError, Topology
from modelplane.model.names import ENGINE_PORT, ENV_LEADER_ADDRESS, ENV_RANK

#: The leader of a gang and the rank of a pod, which are put into the environment of every gang's pods.
_LEADER: Final = f"$({ENV_LEADER_ADDRESS})"
_RANK: Final = f"$({ENV_RANK})"
_SGLANG_PORT: Final = 20000
_RAY_PORT: Final = 6379
#: How the image of an engine is started where it does not start the engine by itself.
_SERVE: Final = {"vLLM": "python3 -m vllm.entrypoints.openai.api_server", "SGLang": "python3 -m sglang.launch_server"}
_COUNT_NODES: Final = (
    "import ray; ray.init(address='auto', log_to_driver=False); print(sum(n['Alive'] for n in ray.nodes()))"
)

Command = tuple[list[str], list[str]]


@dataclass(frozen=True, slots=True)
class Weights:
    """What an engine loads, the name that it serves it under, and the revision, "" for none."""

    model: str
    name: str
    revision: str


@dataclass(frozen=True, slots=True)
class _Writer:
    """The arguments of a profile, and the flags that are added to them. Raises InvalidProfileError on disagreement."""

    profile: Mapping[str, Any]
    args: Sequence[str]

    def refuse(self, field: str, why: str) -> InvalidProfileError:
        return InvalidProfileError(self.profile, field, why)

    def number(self, names: Sequence[str], field: str, stated: int | None) -> int | None:
        """Return the number of a flag: the given one, which must agree with the stated one, else the stated one."""
        given = find_flag(self.args, names)
        if given is None:
            return stated
        if not given.value.isdecimal():
            raise self.refuse("engine.args", f"{given} is no whole number")
        if stated is not None and int(given.value) != stated:
            raise self.refuse("engine.args", f"{given} contradicts {field}: {stated}; remove one, or make them equal")
        return int(given.value)

    def add(self, names: Sequence[str], value: object) -> list[str]:
        """Return the flag with a value, nothing where it is given or there is no value."""
        return [] if value in (None, "") or find_flag(self.args, names) else [f"{names[0]}={value}"]

    def switch(self, names: Sequence[str]) -> list[str]:
        """Return a flag without value, nothing where it is given."""
        return [] if find_flag(self.args, names) else [names[0]]


def _experts(writer: _Writer, dialect: Dialect, topology: Topology, tensor: int) -> list[str]:
    given = find_flag(writer.args, dialect.expert)
    if topology.expert is False and given:
        raise writer.refuse(
            "engine.args", f"{given} contradicts replicaTopology.parallelism.expert: disabled; remove one of them"
        )
    if not topology.expert:
        return []
    return writer.add(dialect.expert, tensor) if dialect.expert_sized else writer.switch(dialect.expert)


def _parallelism(writer: _Writer, dialect: Dialect, topology: Topology) -> list[str]:
    """Return the flags of the parallelism; it must use exactly the GPUs of the replica."""
    where = "replicaTopology.parallelism"
    tensor = writer.number(dialect.tensor, f"{where}.tensor", topology.tensor) or 1
    pipeline = writer.number(dialect.pipeline, f"{where}.pipeline", topology.pipeline) or 1
    data = writer.number(dialect.data, f"{where}.data", topology.data) or 1
    within = find_flag(writer.args, DATA_WITHIN_TENSOR)
    used, gpus = tensor * pipeline * (1 if within else data), topology.nodes * topology.gpus
    if used != gpus:
        spread = f"tensor {tensor} x pipeline {pipeline}{'' if within else f' x data {data}'} = {used}"
        has = f"nodes {topology.nodes} x gpusPerNode {topology.gpus} = {gpus}"
        raise writer.refuse(where, f"{spread} GPUs, but {has}; make both equal")
    return [
        *writer.add(dialect.tensor, topology.tensor),
        *writer.add(dialect.pipeline, topology.pipeline),
        *writer.add(dialect.data, topology.data),
        *_experts(writer, dialect, topology, tensor),
    ]


def _general(writer: _Writer, dialect: Dialect, topology: Topology, weights: Weights) -> list[str]:
    model = [] if positional_model(writer.args) else writer.add(dialect.model, weights.model)
    return [
        *model,
        *(writer.add(dialect.revision, weights.revision) if model else []),
        *writer.add(dialect.name, weights.name),
        *_parallelism(writer, dialect, topology),
    ]


def _launcher(writer: _Writer, engine: str) -> str:
    """Return how a gang is launched; Auto is the arguments' own word."""
    launcher: str = writer.profile["engine"].get("launcher", "Auto")
    given = find_flag(writer.args, BACKEND) if engine == "vLLM" else None
    if engine == "SGLang":
        if launcher in ("Multiprocessing", "Ray"):
            raise writer.refuse("engine.launcher", f"{launcher} is vLLM's; SGLang launches itself: use Auto or None")
        return launcher
    backend = {"ray": "Ray", "mp": "Multiprocessing"}.get(given.value if given else "mp", "None")
    if launcher in ("Multiprocessing", "Ray") and given and launcher != backend:
        raise writer.refuse("engine.args", f"{given} contradicts engine.launcher: {launcher}; remove one of them")
    return backend if launcher == "Auto" else launcher


def _ray(writer: _Writer, args: list[str], nodes: int) -> dict[str, Command]:
    """Return a gang that Ray gathers: the leader waits for every node before it starts the server."""
    wait = f'until [ "$(python3 -c "{_COUNT_NODES}")" -ge {nodes} ]; do sleep 2; done'
    serve = f'exec {_SERVE["vLLM"]} "$@"'
    leader = f"ray start --head --port={_RAY_PORT} && {wait} && {serve}"
    join = f"until ray start --address={_LEADER}:{_RAY_PORT} --block; do sleep 2; done"
    backend = writer.add(BACKEND, "ray")
    return {"Leader": (["sh", "-c", leader, "sh"], [*args, *backend]), "Worker": (["sh", "-c", join], [])}


def _refuse_for_gang(writer: _Writer, engine: str, args: Sequence[str]) -> None:
    """Refuse flags that a leader and workers cannot share, and what an engine refuses on several nodes."""
    dialect = DIALECTS[engine]
    rank, data = find_flag(args, dialect.rank), find_flag(args, dialect.data)
    if rank and rank.value != _RANK:
        raise writer.refuse("engine.args", f"{rank} gives all nodes one rank; remove it, each node gets its own")
    headless = find_flag(args, HEADLESS) if engine == "vLLM" else None
    if headless:
        why = f"{headless.flag} keeps the leader from serving requests; remove it, the workers alone get it"
        raise writer.refuse("engine.args", why)
    spread = engine == "SGLang" and data is not None and data.value != "1"
    if spread and not find_flag(args, DATA_WITHIN_TENSOR):
        why = f"SGLang refuses {data} on several nodes without {DATA_WITHIN_TENSOR[0]}; add that to engine.args"
        raise writer.refuse("replicaTopology.parallelism", why)


def _gang(writer: _Writer, engine: str, launcher: str, args: list[str], nodes: int) -> dict[str, Command]:
    """Return the leader and the workers of an engine that gathers its nodes by itself."""
    dialect = DIALECTS[engine]
    writer.number(dialect.nodes, "replicaTopology.nodes", nodes)
    if launcher != "None":
        _refuse_for_gang(writer, engine, args)
    leader = f"{_LEADER}:{_SGLANG_PORT}" if engine == "SGLang" else _LEADER
    common = [*args, *writer.add(dialect.nodes, nodes)]
    address = writer.add(dialect.leader, leader)
    ranks = [writer.add(dialect.rank, rank) for rank in ("0", _RANK)]
    headless = writer.switch(HEADLESS) if engine == "vLLM" else []
    command = _command(engine)
    if launcher == "None":
        return {"Leader": (command, args), "Worker": (command, args)}
    return {
        "Leader": (command, [*common, *ranks[0], *address]),
        "Worker": (command, [*common, *ranks[1], *address, *headless]),
    }


def _command(engine: str) -> list[str]:
    """Return the command that starts an engine, [] where its image does."""
    return _SERVE[engine].split() if engine == "SGLang" else []


def _warnings(topology: Topology, launcher: str) -> tuple[str, ...]:
    if launcher == "Ray" and (topology.data or 1) > 1:
        return ("vLLM hangs when data parallelism spans nodes with Ray: use launcher Multiprocessing",)
    return ()


def command_and_args(
    profile: Mapping[str, Any], topology: Topology, weights: Weights
) -> tuple[dict[str, Command], tuple[str, ...]]:
    """Return the command and the arguments of each role of a short profile, and warnings.

    Raises InvalidProfileError where what is given contradicts the profile.
    """
    engine = profile["engine"]
    given, command = list(engine.get("args") or ()), list(engine.get("command") or ())
    roles = ("Standalone",) if topology.nodes == 1 else ("Leader", "Worker")
    dialect = DIALECTS.get(engine["name"])
    if dialect is None or command:
        return dict.fromkeys(roles, (command, given)), ()
    writer = _Writer(profile, given)
    args = [*given, *_general(writer, dialect, topology, weights)]
    if engine["name"] == "SGLang":
        args += [*writer.add(HOST, "0.0.0.0"), *writer.add(PORT, ENGINE_PORT)]  # noqa: S104 (in its own pod)
    if topology.nodes == 1:
        return {"Standalone": (_command(engine["name"]), args)}, ()
    launcher = _launcher(writer, engine["name"])
    if launcher == "Ray":
        return _ray(writer, args, topology.nodes), _warnings(topology, launcher)
    return _gang(writer, engine["name"], launcher, args, topology.nodes), ()
