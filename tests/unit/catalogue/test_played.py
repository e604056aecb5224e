"""The played engine accepts what a profile of several nodes expands to, and refuses what would not make one engine."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from unit.catalogue.played import Node, RefusedError, gather, start
from unit.catalogue.profiles import container, profile

THREE = profile(nodes=3, gpus=8, parallelism={"tensor": 8, "pipeline": 3})


def gang() -> list[Node]:
    """Return the leader and two workers of a profile as their engines start."""
    members = [0, 1, 1]
    environment = {"MODELPLANE_LEADER_ADDRESS": "leader.example.org"}
    return [
        start(container(THREE, member)["args"], {**environment, "MODELPLANE_RANK": str(rank)})
        for rank, member in enumerate(members)
    ]


def test_what_a_profile_of_several_nodes_expands_to_is_one_engine() -> None:
    gather(gang(), 8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda node: replace(node, nodes=2), "--nnodes"),
        (lambda node: replace(node, rank=1), "--node-rank"),
        (lambda node: replace(node, leader="other"), "--master-addr"),
        (lambda node: replace(node, headless=False), "--headless"),
        (lambda node: replace(node, model="other"), "--model"),
        (lambda node: replace(node, tensor=4), "GPUs"),
    ],
    ids=["nnodes", "rank", "leader", "headless", "model", "parallelism"],
)
def test_a_worker_that_is_told_something_else_is_refused(change: Callable[[Node], Node], words: str) -> None:
    leader, worker, last = gang()
    with pytest.raises(RefusedError, match=words):
        gather([leader, worker, change(last)], 8)


def test_a_gang_that_lacks_a_node_is_refused() -> None:
    with pytest.raises(RefusedError, match="2 nodes were started with --nnodes"):
        gather(gang()[:2], 8)


@pytest.mark.parametrize(
    ("args", "words"),
    [(["--nnode=2"], "unrecognized arguments"), (["--node-rank=$(RANK)"], "invalid int value")],
    ids=["a flag that is none", "a variable that is not set"],
)
def test_arguments_that_the_engine_does_not_know_are_refused(args: list[str], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        start(args, {})
