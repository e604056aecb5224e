"""Why a replica does not serve, in the words of its own pods: shown while it lasts, and not observed after that."""

from typing import Any

import pytest

from modelplane.step import AWAITING
from unit.compose_replica import replicas as given

BODY = given.replica(given.engine(copies=2))
WORKLOAD = given.manifest_of(given.run(BODY), "deployment-main")["metadata"]["name"]


def starting() -> dict[str, dict[str, Any]]:
    """Return the replica's Objects while none of its pods is available."""
    found = given.serving(BODY)
    counts = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2}
    found["deployment-main"]["status"]["atProvider"]["manifest"]["status"] = counts
    return found


def pod(status: dict[str, Any], workload: str = WORKLOAD, gang: str | None = None, **metadata: Any) -> dict[str, Any]:
    """Return the Object that the provider makes for a pod it looks at; a LeaderWorkerSet labels those of a gang."""
    labels = {"modelplane.ai/workload": workload}
    labels |= {"leaderworkerset.sigs.k8s.io/group-index": gang} if gang else {}
    there = {"metadata": {"labels": labels, **metadata}, "status": status}
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "x", "namespace": "team", "labels": {"modelplane.ai/pods-of": "qwen-0a1b2c3d"}},
        "spec": {"managementPolicies": ["Observe"], "forProvider": {"manifest": {"kind": "Pod"}}},
        "status": {"atProvider": {"manifest": there}},
    }


def waiting(reason: str, message: str = "", **last: Any) -> dict[str, Any]:
    state = {"state": {"waiting": {"reason": reason, "message": message}}, **last}
    return {"phase": "Pending", "containerStatuses": [{"name": "engine", **state}]}


def ended(code: int, reason: str, message: str = "") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def unscheduled(reason: str, message: str) -> dict[str, Any]:
    found = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {"phase": "Pending", "conditions": [found]}


BACK_OFF = "back-off 5m0s restarting failed container=engine pod=qwen-0_mp-team(0f1e)"
NO_CLAIM = "0/2 nodes are available: 2 cannot allocate all claims."
PULL = 'Back-off pulling image "vllm/vllm:nope"'
CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "nothing yet": ([], ""),
    "about to start": ([waiting("ContainerCreating")], ""),
    "loading": ([{"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}], ""),
    "image pull": (
        [waiting("ImagePullBackOff", PULL)] * 2,
        f"2 pods: ImagePullBackOff: {PULL}; correct the image, or the pull secret",
    ),
    "an unallocated claim": ([unscheduled("Unschedulable", NO_CLAIM)], f"1 pod: Unschedulable: {NO_CLAIM}"),
    "a selector that fails on a device": (
        [unscheduled("SchedulerError", "selector #0: CEL runtime error: no such key: x")],
        "1 pod: SchedulerError: selector #0: CEL runtime error: no such key: x",
    ),
    "crash": (
        [waiting("CrashLoopBackOff", BACK_OFF, lastState=ended(1, "Error", "CUDA out\nof memory"))],
        "1 pod: CrashLoopBackOff: exit code 1 (Error): CUDA out of memory",
    ),
    "crash without last words": (
        [waiting("CrashLoopBackOff", BACK_OFF, lastState=ended(137, "OOMKilled"))],
        "1 pod: CrashLoopBackOff: exit code 137 (OOMKilled)",
    ),
    "just ended": (
        [{"phase": "Running", "containerStatuses": [{"state": ended(2, "Error")}]}],
        "1 pod: exit code 2 (Error)",
    ),
    "a secret without the key": (
        [waiting("CreateContainerConfigError", "couldn't find key k in Secret mp-team/token")],
        "1 pod: CreateContainerConfigError: couldn't find key k in Secret mp-team/token",
    ),
    "evicted": (
        [{"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}],
        "1 pod: Evicted: the node was low on memory",
    ),
    "different ones, the most first": (
        [waiting("B"), waiting("A"), waiting("B"), waiting("C")],
        "2 pods: B; 1 pod: A; 1 pod: C",
    ),
    "malformed": ([{"conditions": "none", "containerStatuses": [7, {"state": []}]}], ""),
}


@pytest.mark.parametrize(("statuses", "words"), CASES.values(), ids=CASES)
def test_what_pods_complain_of_is_reported_by_the_replica_and_by_its_workload(
    statuses: list[dict[str, Any]], words: str
) -> None:
    result = given.run(BODY, starting(), pods=[pod(status) for status in statuses])
    shown = f": {words}" if words else ""
    assert given.condition(result, "ModelReady").message == f"engine main: 0 of 2 copies ready{shown}"
    assert result.status is not None
    assert result.status["workloads"][0].get("message", "") == words
    assert result.ttl == AWAITING


#: Not ready, and nothing else: the container runs.
PROBE = {"phase": "Running", "containerStatuses": [{"ready": False, "state": {"running": {}}}]}
#: The container before has ended with an error; a LeaderWorkerSet deletes such a pod and the rest of its gang.
RESTARTED = {"containerStatuses": [{"state": {"running": {}}, "lastState": ended(1, "Error"), "restartCount": 1}]}
CRASHES: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "nothing yet": ([], False),
    "a failing probe": ([pod(PROBE)] * 2, False),
    "an image that cannot be pulled": ([pod(waiting("ImagePullBackOff", PULL))], False),
    "ended with an error": ([pod(PROBE), pod({"containerStatuses": [{"state": ended(2, "Error")}]})], True),
    "ended without an error": ([pod({"containerStatuses": [{"state": ended(0, "Completed")}]})], False),
    "crashes again and again": ([pod(waiting("CrashLoopBackOff", BACK_OFF))], True),
    "cannot run its command": ([pod(waiting("RunContainerError", "no such file"))], True),
    "an init container": ([pod({"initContainerStatuses": [{"state": ended(1, "Error")}]})], True),
    "one that is going": ([pod(waiting("CrashLoopBackOff"), deletionTimestamp="2026-01-01T00:00:00Z")], False),
    "one of a gang that is going because it was restarted": (
        [pod(RESTARTED, gang="0", deletionTimestamp="2026-01-01T00:00:00Z")],
        True,
    ),
    "one that was restarted once, and goes with its node": (
        [pod(RESTARTED, deletionTimestamp="2026-01-01T00:00:00Z")],
        False,
    ),
    "one that was restarted, and is not going": ([pod(RESTARTED)], False),
    "of another workload": ([pod(waiting("CrashLoopBackOff"), workload="other")], False),
    "malformed": ([pod({"containerStatuses": [7, {"state": {"terminated": {"exitCode": "x"}}}]})], False),
}


@pytest.mark.proves("R48")
@pytest.mark.parametrize(("pods", "crashed"), CRASHES.values(), ids=CRASHES)
def test_a_replica_has_crashed_if_containers_of_an_engine_without_a_copy_ended_with_an_error(
    pods: list[dict[str, Any]], crashed: bool
) -> None:
    assert (given.run(BODY, starting(), pods=pods).status or {}).get("crashed", False) is crashed


def test_what_has_crashed_has_until_it_serves_or_its_pods_are_changed() -> None:
    found = given.run(BODY, starting(), pods=CRASHES["crashes again and again"][0]).status or {}
    assert found["crashed"] is True
    runs = given.run({**BODY, "status": found}, starting(), pods=[pod(PROBE)]).status or {}
    assert runs["crashed"] is True
    serves = given.run({**BODY, "status": runs}, given.serving(BODY)).status or {}
    assert "crashed" not in serves
    image = {"spec": {"containers": [given.container(image="new")]}}
    edited = given.replica(given.engine(copies=2, members=[given.member(template=image)]), status=runs)
    assert "crashed" not in (given.run(edited, starting(), pods=[pod(PROBE)]).status or {})


def test_a_replica_that_serves_with_its_other_copies_has_not_crashed() -> None:
    observed = starting()
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"]["availableReplicas"] = 1
    result = given.run(BODY, observed, pods=[pod(waiting("CrashLoopBackOff", BACK_OFF))])
    assert (result.ready, "crashed" in (result.status or {})) == (True, False)


def test_last_words_are_cut_to_their_end() -> None:
    crashed = waiting("CrashLoopBackOff", lastState=ended(1, "Error", "x" * 5000 + "end"))
    message = given.condition(given.run(BODY, starting(), pods=[pod(crashed)]), "ModelReady").message
    assert message.endswith("xend")
    assert len(message) < 300


TRACE = [f'(APIServer pid=1)   File "/usr/lib/python3.12/a{at}.py", line {at}, in run' for at in range(9)]
REFERRING = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
FOLLOWED = f"(APIServer pid=1) {REFERRING}"
#: Ends of logs as engines write them: the lines, and what of them is repeated.
LOGS: dict[str, tuple[list[str], str]] = {
    "vLLM, whose last error follows from another": (
        ["(EngineCore_DP0 pid=87) ERROR core.py: RuntimeError: NIXL is not available", *TRACE, FOLLOWED],
        "RuntimeError: NIXL is not available (APIServer",
    ),
    "vLLM, of which the kubelet keeps that error alone": (
        [*TRACE, FOLLOWED],
        REFERRING,
    ),
    "SGLang, which ends long after its error begins": (
        [
            *TRACE,
            f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20 GiB. {'GPU 0 has 1 GiB. ' * 20}",
            "[2026-01-01 00:00:00] Received sigquit from a child process. It usually means the child failed.",
        ],
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20 GiB.",
    ),
    "no error by name": (["loading"] * 90 + ["Error: ShardCannotStart"], "Error: ShardCannotStart"),
}


@pytest.mark.parametrize(("lines", "words"), LOGS.values(), ids=LOGS)
def test_of_a_long_end_of_a_log_its_last_error_is_repeated_from_its_name_on(lines: list[str], words: str) -> None:
    crashed = waiting("CrashLoopBackOff", lastState=ended(1, "Error", "\n".join(lines)))
    message = given.condition(given.run(BODY, starting(), pods=[pod(crashed)]), "ModelReady").message
    said = message.partition("exit code 1 (Error): ")[2]
    assert words in (said[: len(words)], said[-len(words) :])
    assert len(said) <= 200


def test_pods_that_are_going_and_pods_of_other_workloads_say_nothing() -> None:
    going = pod(waiting("A"), deletionTimestamp="2026-01-01T00:00:00Z")
    result = given.run(BODY, starting(), pods=[going, pod(waiting("A"), workload="other")])
    assert given.condition(result, "ModelReady").message == "engine main: 0 of 2 copies ready"


def test_pods_are_looked_at_by_the_label_of_their_workload_while_one_does_not_serve() -> None:
    result = given.run(BODY, starting())
    body = result.desired["pods"].build()
    selector = {"matchExpressions": [{"key": "modelplane.ai/workload", "operator": "In", "values": [WORKLOAD]}]}
    assert body["spec"] == {
        "observeObjects": {"apiVersion": "v1", "kind": "Pod", "namespace": "mp-team", "selector": selector},
        "objectTemplate": {"metadata": {"labels": {"modelplane.ai/pods-of": "qwen-0a1b2c3d"}}},
        "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "eu-1"},
    }
    (asked,) = (requirement for requirement in result.requirements if requirement.kind == "Object")
    assert (asked.match_labels, asked.namespace) == ({"modelplane.ai/pods-of": "qwen-0a1b2c3d"}, "team")


@pytest.mark.parametrize("observed", [{}, given.serving(BODY)], ids=["nothing is there yet", "all serves"])
def test_no_pod_is_looked_at_before_a_workload_is_there_nor_while_all_serves(observed: dict[str, Any]) -> None:
    result = given.run(BODY, observed)
    assert "pods" not in result.desired
    assert {requirement.kind for requirement in result.requirements} == {"InferenceCluster"}


def test_a_held_replica_keeps_the_look_that_it_has_and_goes_on_telling() -> None:
    observed = starting()
    look = dict(given.run(BODY, observed).desired["pods"].build())
    observed["pods"] = {**look, "metadata": {"name": "pods-1", "namespace": "team"}}
    result = given.run(BODY, observed, cluster=[], pods=[pod(waiting("ImagePullBackOff", PULL))])
    assert result.desired["pods"].build()["spec"] == look["spec"]
    assert PULL in given.condition(result, "ModelReady").message
