"""How the pods of a short profile are started: its arguments, with missing flags generated.

Given flags take precedence and must agree with the profile's other fields. An engine with a `command`, or with the name
Other, gets exactly the given arguments.
"""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.catalogue.agreement import (
    RANK,
    agree_on_experts,
    agree_on_weights,
    refuse_for_gang,
    refuse_for_one_node,
    refuse_for_ray,
)
from modelplane.catalogue.arguments import Arguments, Weights
from modelplane.catalogue.flags import (
    BACKEND,
    DATA_WITHIN_TENSOR,
    DIALECTS,
    HEADLESS,
    HOST,
    PORT,
    VLLM,
    Dialect,
    find_flag,
    order_ports,
    positional_model,
)
from modelplane.catalogue.profile import Topology
from modelplane.model.names import ENGINE_PORT, ENV_LEADER_ADDRESS

#: The leader of a gang, which is put into the environment of its pods.
_LEADER: Final = f"$({ENV_LEADER_ADDRESS})"
_SGLANG_PORT: Final = 20000
_RAY_PORT: Final = 6379
#: The command of an engine whose image does not start it by default.
_SERVE: Final = {"vLLM": "python3 -m vllm.entrypoints.openai.api_server", "SGLang": "python3 -m sglang.launch_server"}
_COUNT_NODES: Final = (
    "import ray; ray.init(address='auto', log_to_driver=False); print(sum(n['Alive'] for n in ray.nodes()))"
)

Command = tuple[list[str], list[str]]


def _experts(arguments: Arguments, dialect: Dialect, topology: Topology, tensor: int) -> list[str]:
    agree_on_experts(arguments, dialect, topology)
    if not topology.expert:
        return []
    return arguments.add(dialect.expert, tensor) if dialect.expert_sized else arguments.switch(dialect.expert)


def _parallelism(arguments: Arguments, dialect: Dialect, topology: Topology) -> list[str]:
    """Return the flags of the parallelism; it must use exactly the GPUs of the replica."""
    where = "replicaTopology.parallelism"
    tensor = arguments.number(dialect.tensor, f"{where}.tensor", topology.tensor) or 1
    pipeline = arguments.number(dialect.pipeline, f"{where}.pipeline", topology.pipeline) or 1
    data = arguments.number(dialect.data, f"{where}.data", topology.data) or 1
    within = find_flag(arguments.args, DATA_WITHIN_TENSOR)
    used, gpus = tensor * pipeline * (1 if within else data), topology.nodes * topology.gpus
    if used != gpus:
        spread = f"tensor {tensor} x pipeline {pipeline}{'' if within else f' x data {data}'} = {used}"
        has = f"nodes {topology.nodes} x gpusPerNode {topology.gpus} = {gpus}"
        raise arguments.refuse(where, f"{spread} GPUs, but {has}; make both equal")
    return [
        *arguments.add(dialect.tensor, topology.tensor),
        *arguments.add(dialect.pipeline, topology.pipeline),
        *arguments.add(dialect.data, topology.data),
        *_experts(arguments, dialect, topology, tensor),
    ]


def _general(arguments: Arguments, dialect: Dialect, topology: Topology, weights: Weights) -> list[str]:
    agree_on_weights(arguments, dialect, weights)
    model = [] if positional_model(arguments.args) else arguments.add(dialect.model, weights.model)
    return [
        *model,
        *(arguments.add(dialect.revision, weights.revision) if model else []),
        *arguments.add(dialect.name, weights.name),
        *_parallelism(arguments, dialect, topology),
    ]


def _launcher(arguments: Arguments, engine: str) -> str:
    """Return how a gang is launched; Auto depends on the arguments."""
    launcher: str = arguments.profile["engine"].get("launcher", "Auto")
    given = find_flag(arguments.args, BACKEND) if engine == "vLLM" else None
    if engine == "SGLang":
        if launcher in ("Multiprocessing", "Ray"):
            raise arguments.refuse("engine.launcher", f"{launcher} is vLLM's; SGLang launches itself: use Auto or None")
        return launcher
    backend = {"ray": "Ray", "mp": "Multiprocessing"}.get(given.value if given else "mp", "None")
    if launcher in ("Multiprocessing", "Ray") and given and launcher != backend:
        raise arguments.refuse("engine.args", f"{given} contradicts engine.launcher: {launcher}; remove one of them")
    return backend if launcher == "Auto" else launcher


def _ray(arguments: Arguments, args: list[str], nodes: int) -> dict[str, Command]:
    """Return the commands of a gang with Ray: the leader waits for every node before it starts the server."""
    given = find_flag(arguments.args, BACKEND)
    refuse_for_ray(arguments, VLLM, str(given) if given else "engine.launcher: Ray")
    wait = f'until [ "$(python3 -c "{_COUNT_NODES}")" -ge {nodes} ]; do sleep 2; done'
    serve = f'exec {_SERVE["vLLM"]} "$@"'
    leader = f"ray start --head --port={_RAY_PORT} && {wait} && {serve}"
    join = f"until ray start --address={_LEADER}:{_RAY_PORT} --block; do sleep 2; done"
    backend = arguments.add(BACKEND, "ray")
    return {"Leader": (["sh", "-c", leader, "sh"], [*args, *backend]), "Worker": (["sh", "-c", join], [])}


def _gang(arguments: Arguments, engine: str, launcher: str, args: list[str], nodes: int) -> dict[str, Command]:
    """Return the commands of a gang whose engine joins its nodes itself."""
    dialect = DIALECTS[engine]
    arguments.number(dialect.nodes, "replicaTopology.nodes", nodes)
    if launcher != "None":
        refuse_for_gang(arguments, engine, args)
    leader = f"{_LEADER}:{_SGLANG_PORT}" if engine == "SGLang" else _LEADER
    common = [*args, *arguments.add(dialect.nodes, nodes)]
    address = arguments.add(dialect.leader, leader)
    ranks = [arguments.add(dialect.rank, rank) for rank in ("0", RANK)]
    headless = arguments.switch(HEADLESS) if engine == "vLLM" else []
    command = _command(engine)
    if launcher == "None":
        return {"Leader": (command, args), "Worker": (command, args)}
    return {
        "Leader": (command, [*common, *ranks[0], *address]),
        "Worker": (command, [*common, *ranks[1], *address, *headless]),
    }


def _command(engine: str) -> list[str]:
    """Return the command that starts an engine, [] if its image does."""
    return _SERVE[engine].split() if engine == "SGLang" else []


def _warnings(topology: Topology, launcher: str) -> tuple[str, ...]:
    if launcher == "Ray" and (topology.data or 1) > 1:
        return ("vLLM hangs when data parallelism spans nodes with Ray: use launcher Multiprocessing",)
    return ()


def command_and_args(
    profile: Mapping[str, Any], topology: Topology, weights: Weights
) -> tuple[dict[str, Command], tuple[str, ...]]:
    """Return the command and the arguments of each role of a short profile, and warnings.

    Raises InvalidProfileError if given arguments contradict the profile.
    """
    engine = profile["engine"]
    given, command = list(engine.get("args") or ()), list(engine.get("command") or ())
    roles = ("Standalone",) if topology.nodes == 1 else ("Leader", "Worker")
    dialect = DIALECTS.get(engine["name"])
    if dialect is None or command:
        return dict.fromkeys(roles, (command, given)), ()
    arguments = Arguments(profile, given)
    args = [*given, *_general(arguments, dialect, topology, weights)]
    stated = next((port["containerPort"] for port in order_ports(engine.get("ports") or ())), None)
    if engine["name"] == "SGLang":
        stated = stated or ENGINE_PORT
        args += arguments.add(HOST, "0.0.0.0")  # noqa: S104 (in its own pod)
    args += arguments.add(PORT, stated)
    if topology.nodes == 1:
        refuse_for_one_node(arguments, engine["name"])
        return {"Standalone": (_command(engine["name"]), args)}, ()
    launcher = _launcher(arguments, engine["name"])
    if launcher == "Ray":
        return _ray(arguments, args, topology.nodes), _warnings(topology, launcher)
    return _gang(arguments, engine["name"], launcher, args, topology.nodes), ()
