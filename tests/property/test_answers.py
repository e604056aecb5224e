"""Whatever happens around a replica, what is remembered answers as the step would, byte for byte."""

from itertools import cycle, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from given.manifests import cache, cluster, hardware, in_place
from modelplane.compose_replica.replica import compose
from modelplane.lru import Lru
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from modelplane.step import Result
from modelplane.transport import answers
from modelplane.transport.answers import Summary
from modelplane.transport.compression import Compressor
from modelplane.transport.messages import Response
from modelplane.transport.request import read
from property.answers import CHANGES, HAPPENINGS, Compared, Settled, settled, world_of
from property.strategies import examples
from unit.compose_replica.disturbances import DISTURBANCES
from unit.compose_replica.replicas import TOPOLOGIES

#: The kinds whose results are cacheable besides settled deployments.
CACHED = ("InferenceClass", "InferenceCluster", "ClusterModel", "ModelCache", "ModelReplica", "ModelEndpoint")


def reconcile(control: ControlPlane) -> None:
    for replica in control.list("ModelReplica"):
        control.reconcile("ModelReplica", "ml-team", replica["metadata"]["name"])


@given(st.sampled_from(sorted(TOPOLOGIES)), st.lists(HAPPENINGS, min_size=1, max_size=12))
@examples(12)
def test_in_any_history_of_a_replica_the_remembered_answer_is_the_computed_one(
    topology: str, happenings: list[tuple[str, str, int]]
) -> None:
    pipelines = Compared("ModelReplica")
    control = world_of(topology, pipelines)
    for change, version, passes in happenings:
        CHANGES[change](control)
        pipelines.version = version
        for _ in range(passes):
            reconcile(control)
        assert pipelines.differing == [], change


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_settled_replica_of_each_topology_is_not_computed_again(topology: str) -> None:
    pipelines = Compared("ModelReplica")
    control = world_of(topology, pipelines)
    reconcile(control)
    calls, computed = pipelines.calls, pipelines.computed
    reconcile(control)
    assert pipelines.calls > calls
    assert pipelines.computed == computed


def _pass(one: Settled, number: int) -> int:
    """Make the calls of a pass of a replica like this one, and return how many are answered from memory."""
    found = 0
    for wire, response in one.renamed(number):
        given = read(wire)
        if answers.find(compose, given):
            found += 1
        else:
            summary = Summary("ModelReplica", "ml-team", f"{number}", 8, 3)
            answers.keep(compose, given, Result(cacheable=True), response, summary)
    return found


@pytest.mark.parametrize(("replicas", "at_least", "at_most"), [(125, 1.0, 1.0), (264, 0.40, 0.65)])
def test_a_mixed_fleet_of_5000_is_answered_from_memory_and_of_one_too_large_what_fits(
    monkeypatch: pytest.MonkeyPatch, replicas: int, at_least: float, at_most: float
) -> None:
    fleet = [settled(topology) for topology in TOPOLOGIES]
    limit = answers._LIMIT // 40  # for a fortieth of the fleet
    monkeypatch.setattr(answers, "_ANSWERS", Lru(limit, admit=answers._ADMIT))
    monkeypatch.setattr(answers, "_COMPRESSOR", Compressor())
    calls = sum(len(one.calls) for one in islice(cycle(fleet), replicas))
    shares = [sum(map(_pass, islice(cycle(fleet), replicas), range(replicas))) / calls for _ in range(3)]
    assert shares[0] == 0
    assert all(at_least <= share <= at_most for share in shares[1:]), shares
    assert answers._ANSWERS._weight <= limit


def test_a_fleet_is_answered_from_memory_whatever_strangers_there_were_before(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = [settled(topology) for topology in TOPOLOGIES]
    compressor, limit = Compressor(), answers._LIMIT // 20
    strangers = [compressor.compress(Random(seed).randbytes(30_000)) for seed in range(16) for _ in range(3)]  # noqa: S311
    monkeypatch.setattr(answers, "_ANSWERS", Lru(limit, admit=answers._ADMIT))
    monkeypatch.setattr(answers, "_COMPRESSOR", compressor)
    calls = sum(len(one.calls) for one in islice(cycle(fleet), 220))
    shares = [sum(map(_pass, islice(cycle(fleet), 220), range(220))) / calls for _ in range(2)]
    assert shares[1] >= 0.95, shares
    assert strangers


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("no copy is ready", "engine main: 0 of 2 copies ready"),
        ("a drift on the cluster", "of 7 copies ready"),
        ("a Secret loses its key", "Secret ml-team/hugging-face has no key token"),
        ("the cluster cannot be reached", "InferenceCluster eu-1 is not reached yet"),
        ("a world out of reach", "not in sync"),
    ],
)
def test_what_changes_around_a_settled_replica_is_in_its_next_answer(change: str, words: str) -> None:
    pipelines = Compared("ModelReplica")
    control = world_of("standalone", pipelines)
    for _ in range(2):
        reconcile(control)
    computed = pipelines.computed
    CHANGES[change](control)
    if change.startswith("a world"):
        reconcile(control)  # after which the world answers
    reconcile(control)
    assert pipelines.computed > computed
    said = " ".join(one.message for one in Response.FromString(pipelines.last).conditions)
    assert words in said


@given(st.lists(st.sampled_from(sorted(DISTURBANCES)), min_size=1, max_size=8))
@examples(8)
def test_whatever_happens_to_a_fleet_the_remembered_answer_of_each_kind_is_the_computed_one(mishaps: list[str]) -> None:
    pipelines = Compared(*CACHED, others=True)
    control = ControlPlane([hardware(), cluster("eu", 1), in_place(), cache()], healthy, pipelines)
    control.settle()
    for mishap in mishaps:
        DISTURBANCES[mishap](control)
        control.settle()
        assert pipelines.differing == [], mishap
    assert 0 < pipelines.computed < pipelines.calls
