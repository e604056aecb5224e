"""Plays vLLM over several nodes: it parses what a pod gives it, and refuses what does not make one engine.

No engine runs here. What is played is what vLLM checks before it loads a model: that flags exist, that every node is
told of the same leader and how many nodes there are, each its own rank, that only the leader takes requests, and that
the parallelism uses all GPUs.
"""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from unit.catalogue.engines import VLLM_FLAGS

#: Flags of the examples that take a value, or none, and have nothing to do with nodes.
_WITH_VALUE = (
    "quantization",
    "max-model-len",
    "gpu-memory-utilization",
    "max-num-seqs",
    "distributed-executor-backend",
)
_SWITCHES = ("enable-prefix-caching", "enable-expert-parallel", "headless")


class RefusedError(Exception):
    """The engine ends with this message."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise RefusedError(message)


@dataclass(frozen=True, slots=True)
class Node:
    """What one node's engine process was told."""

    model: str
    nodes: int
    rank: int
    leader: str
    headless: bool
    tensor: int
    pipeline: int


def variables(container: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a container as a kubelet gives it, in the order of its rows."""
    found: dict[str, str] = {}
    for row in container.get("env") or ():
        path = row.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
        label = re.fullmatch(r"metadata\.labels\['(.+)'\]", path)
        found[row["name"]] = labels.get(label[1], "") if label else expand(row.get("value", ""), found)
    return found


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with its `$(NAME)` replaced as a kubelet does; what is not known stays."""
    return re.sub(r"\$\((\w+)\)", lambda found: environment.get(found[1], found[0]), text)


def start(args: Sequence[str], environment: Mapping[str, str]) -> Node:
    """Return what an engine makes of its arguments; raises RefusedError for a flag that it does not know."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    known = {flag.removeprefix("--") for flags in VLLM_FLAGS.values() for flag in flags}
    for name in sorted(known | {*_WITH_VALUE, *_SWITCHES}):
        parser.add_argument(f"--{name}", action="store_true" if name in _SWITCHES else "store")
    given = vars(parser.parse_args([expand(arg, environment) for arg in args]))
    numbers = {}
    for name, default in (("nnodes", 1), ("node_rank", 0), ("tensor_parallel_size", 1), ("pipeline_parallel_size", 1)):
        text = given[name] or str(default)
        if not text.isdecimal():
            raise RefusedError(f"argument --{name.replace('_', '-')}: invalid int value: {text!r}")
        numbers[name] = int(text)
    nodes, rank, tensor, pipeline = numbers.values()
    return Node(given["model"], nodes, rank, given["master_addr"] or "", given["headless"], tensor, pipeline)


def gather(nodes: Iterable[Node], gpus: int) -> None:
    """Make one engine of nodes with so many GPUs each; raises RefusedError where they are none."""
    found = sorted(nodes, key=lambda node: node.rank)
    if {node.nodes for node in found} != {len(found)}:
        raise RefusedError(f"{len(found)} nodes were started with --nnodes {[node.nodes for node in found]}")
    if [node.rank for node in found] != list(range(len(found))):
        raise RefusedError(f"--node-rank {[node.rank for node in found]} are not those of {len(found)} nodes")
    if len({node.leader for node in found}) != 1 or not found[0].leader:
        raise RefusedError(f"--master-addr {[node.leader for node in found]} is not one address")
    if [node.headless for node in found] != [node.rank > 0 for node in found]:
        raise RefusedError("every node but the leader is started with --headless")
    if len({node.model for node in found}) != 1:
        raise RefusedError(f"--model {[node.model for node in found]} is not one model")
    if any(node.tensor * node.pipeline != gpus * len(found) for node in found):
        raise RefusedError(f"the parallelism does not use {gpus * len(found)} GPUs")
