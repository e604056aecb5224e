"""What each world says, and how a control plane lives in it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane, View, healthy
from modelplane.preview.worlds import World, failing, slow, unreachable
from unit.preview.fakes import TEAM, conditions_of, existing

FLEET = (hardware(), cluster("east"), cluster("west"))


def chat(image: str = "v1", replicas: int = 2, *, gang: bool = False) -> dict[str, Any]:
    """Return a deployment whose engine runs this version; as a gang of a leader and a worker, if so."""
    body = deployment(replicas=replicas)
    body["spec"]["rollout"] = {"maxSurge": 0, "maxUnavailable": 2}
    (engine,) = body["spec"]["engines"]
    (member,) = engine["members"]
    member["template"]["spec"]["containers"][0]["image"] = f"example.org/engine:{image}"
    if gang:
        engine["members"] = [{**member, "role": "Leader"}, {**member, "role": "Worker", "worker": {"nodes": 1}}]
    return body


def settled(world: World | None, *objects: Any) -> ControlPlane:
    control = ControlPlane((*FLEET, *objects), world=world)
    assert control.settle()
    return control


def serving(control: ControlPlane) -> dict[str, bool]:
    """Return, for the cluster of each replica, whether the replica serves."""
    replicas = control.list("ModelReplica")
    return {obj["spec"]["clusterName"]: conditions_of(obj)["ModelReady"][0] == "True" for obj in replicas}


def workloads(control: ControlPlane) -> list[dict[str, Any]]:
    """Return the Objects that run engines."""
    kinds = {"Deployment", "LeaderWorkerSet"}
    return [obj for obj in control.list("Object") if obj["spec"]["forProvider"]["manifest"]["kind"] in kinds]


def runs(replica: dict[str, Any], image: str) -> bool:
    """Tell whether a replica's spec asks for this version."""
    return f"engine:{image}" in str(replica["spec"]["engines"])


class TestHealthy:
    def test_an_edit_makes_objects_not_ready_in_its_pass_and_the_next_makes_them_ready(self) -> None:
        control = settled(healthy, chat())
        control.apply(chat("v2"))
        control.reconcile("ModelDeployment", TEAM, "chat")
        for replica in control.list("ModelReplica"):
            control.reconcile("ModelReplica", TEAM, replica["metadata"]["name"])
            edited = [obj for obj in workloads(control) if obj["metadata"]["generation"] == 2]
            last = [obj for obj in edited if conditions_of(obj)["Ready"][0] == "False"]
            (status,) = [obj["status"]["atProvider"]["manifest"]["status"] for obj in last]
            assert (status["observedGeneration"], status["availableReplicas"]) == (2, 0)
        assert control.settle()
        assert {conditions_of(obj)["Ready"][0] for obj in workloads(control)} == {"True"}
        assert serving(control) == {"east": True, "west": True}

    def test_an_edit_is_seen_by_the_replica_and_by_the_deployment(self) -> None:
        control = settled(healthy, chat())
        control.apply(chat("v2"))
        seen = []
        while not control.settle(max_passes=1):
            placed = existing(control, "ModelDeployment", TEAM, "chat")["status"]["placements"]
            seen.append((set(serving(control).values()), {entry["ready"] for entry in placed}))
        replicas, placements = zip(*seen, strict=True)
        assert {False} in replicas
        assert {False} in placements
        assert seen[-1] == ({True}, {True})

    def test_an_object_that_is_only_handled_otherwise_stays_ready(self) -> None:
        control = settled(healthy, chat())
        (obj, _) = workloads(control)
        obj["spec"]["managementPolicies"] = ["Observe"]
        control.apply(obj)
        control.world = watched = Watched()
        control.reconcile("InferenceClass", None, "gpu-class")
        assert conditions_of(watched.last(obj))["Ready"][0] == "True"


class Watched:
    """The healthy world, which keeps what it was shown and what it answered."""

    def __init__(self) -> None:
        self.control: ControlPlane | None = None
        self.answered: dict[tuple[str, str | None, str], Any] = {}

    def __call__(self, view: View) -> Iterator[tuple[str, str | None, str, Any]]:
        """Yield what the healthy world does."""
        for patch in healthy(view):
            self.answered[patch[:3]] = patch[3]
            yield patch

    def last(self, obj: dict[str, Any]) -> dict[str, Any]:
        """Return an object's last status."""
        metadata = obj["metadata"]
        key = ("Object.kubernetes.m.crossplane.io", metadata["namespace"], metadata["name"])
        return {"status": self.answered[key]}


class TestFailing:
    @pytest.mark.parametrize("gang", [False, True], ids=["a Deployment", "a gang"])
    def test_no_copy_becomes_available_and_the_pods_say_why(self, gang: bool) -> None:
        world = failing(lambda replica: "no such file" if replica["spec"]["clusterName"] == "east" else None)
        fleet = [cluster(name, nodes=2) for name in ("east", "west")]
        control = settled(world, *fleet, chat(gang=gang))
        assert serving(control) == {"east": False, "west": True}
        (replica,) = [obj for obj in control.list("ModelReplica") if obj["spec"]["clusterName"] == "east"]
        assert "0 of 1 copies ready: 1 pod: RunContainerError: no such file" in conditions_of(replica)["ModelReady"][2]

    def test_what_serves_fails_only_once_it_runs_what_the_rule_is_about(self) -> None:
        control = settled(healthy, chat())
        control.world = failing(lambda replica: "broken" if runs(replica, "v2") else None)
        assert control.settle()
        assert serving(control) == {"east": True, "west": True}
        control.apply(chat("v2"))
        control.reconcile("ModelDeployment", TEAM, "chat")
        states = {conditions_of(obj)["Ready"][0] for obj in workloads(control)}
        assert states == {"True"}, "no pass has composed the new version yet"
        assert control.settle()
        assert False in serving(control).values()

    def test_a_failure_ends_with_its_rule_or_with_the_edit_that_it_was_about(self) -> None:
        for mend in (lambda control: setattr(control, "world", healthy), lambda control: control.apply(chat())):
            control = settled(failing(lambda replica: "broken" if runs(replica, "v2") else None), chat("v2"))
            assert serving(control) == {"east": False, "west": False}
            mend(control)
            assert control.settle()
            assert serving(control) == {"east": True, "west": True}
            assert "RunContainerError" not in str(control.everything())

    def test_the_rule_is_asked_once_in_a_pass_for_each_replica_and_may_keep_what_it_is_given(self) -> None:
        asked: Counter[str] = Counter()

        def rule(replica: dict[str, Any]) -> None:
            asked[replica["metadata"]["name"]] += 1
            replica.clear()

        control = settled(failing(rule), chat())
        asked.clear()
        control.reconcile("ModelDeployment", TEAM, "chat")
        assert sorted(asked.values()) == [1, 1]
        assert serving(control) == {"east": True, "west": True}

    def test_a_fleet_that_was_read_from_an_export_fails_too(self) -> None:
        export = settled(healthy, chat()).everything()
        control = ControlPlane(export, world=failing(lambda _: "broken"))
        assert control.settle()
        assert serving(control) == {"east": False, "west": False}
        control.world = healthy
        assert control.settle()
        assert serving(control) == {"east": True, "west": True}


class TestUnreachable:
    @pytest.mark.parametrize("read_back", [False, True], ids=["composed", "read from an export"])
    def test_objects_keep_their_last_status_and_are_not_synced_until_the_cluster_is_back(self, read_back: bool) -> None:
        control = settled(healthy, chat())
        if read_back:
            control = settled(healthy, *control.everything())
        before = {obj["metadata"]["name"]: obj for obj in workloads(control)}
        control.world = unreachable({"east"})
        control.apply(chat("v2"))
        assert control.settle()
        for obj in workloads(control):
            away = obj["spec"]["providerConfigRef"]["name"] == "east"
            kept = obj["status"]["atProvider"] == before[obj["metadata"]["name"]]["status"]["atProvider"]
            assert (conditions_of(obj)["Ready"][0], conditions_of(obj)["Synced"][0]) == (
                "True",
                "False" if away else "True",
            )
            assert kept == away
        control.world = healthy
        assert control.settle()
        assert {conditions_of(obj)["Synced"][0] for obj in workloads(control)} == {"True"}
        assert serving(control) == {"east": True, "west": True}

    def test_what_is_composed_for_a_cluster_that_was_never_reached_has_no_status_but_that(self) -> None:
        control = settled(unreachable({"east", "west"}), *export_of_clusters(), chat())
        assert serving(control) == {"east": False, "west": False}
        assert {tuple(obj["status"]) for obj in workloads(control)} == {("conditions",)}

    def test_pods_that_were_seen_stay_as_they_were_last_seen(self) -> None:
        broken = failing(lambda _: "broken")
        control = settled(broken, chat())
        control.world = unreachable({"east"})
        assert control.settle()
        seen = [obj["spec"]["providerConfigRef"]["name"] for obj in control.list("Object") if is_pod(obj)]
        assert seen == ["east"]


def export_of_clusters() -> list[dict[str, Any]]:
    """Return the two clusters as they are once they are ready."""
    return settled(healthy).list("InferenceCluster")


def is_pod(obj: dict[str, Any]) -> bool:
    return bool(obj["spec"]["forProvider"]["manifest"]["kind"] == "Pod")


class TestSlow:
    @pytest.mark.parametrize("passes", [1, 4])
    def test_what_runs_pods_starts_for_so_many_passes_however_little_else_changes(self, passes: int) -> None:
        control = settled(slow(passes), chat())
        base = settled(healthy, chat()).passes
        assert serving(control) == {"east": True, "west": True}
        assert control.passes == base + passes

    def test_an_edit_starts_anew_and_what_serves_already_does_not(self) -> None:
        control = settled(healthy, chat())
        control.world = slow(3)
        assert control.settle()
        assert control.passes == 1
        control.apply(chat("v2"))
        states = []
        while not control.settle(max_passes=1):
            states.append({conditions_of(obj)["Ready"][0] for obj in workloads(control)})
        assert states.count({"False"}) == 3

    def test_what_never_starts_in_time_does_not_settle(self) -> None:
        assert ControlPlane((*FLEET, chat()), world=slow(100)).settle() is False


def test_worlds_lie_over_one_another() -> None:
    class Odd:
        kinds = (("example.org/v1", "Odd"),)

        def __call__(self, view: View) -> Iterator[tuple[str, str | None, str, Any]]:
            """Yield what the healthy world does."""
            return healthy(view)

    control = settled(failing(lambda _: "broken", unreachable({"west"}, slow(2, Odd()))), *export_of_clusters(), chat())
    assert serving(control) == {"east": False, "west": False}
    away = {
        obj["spec"]["providerConfigRef"]["name"]
        for obj in workloads(control)
        if conditions_of(obj)["Synced"][0] == "False"
    }
    assert "RunContainerError: broken" in str(control.list("ModelReplica"))
    assert control.view().schema("example.org/v1", "Odd") is not None
    assert away == set(), "of two that speak of an object the outer one is heard"


def test_a_state_that_is_stuck_is_settled() -> None:
    control = settled(healthy, chat())
    control.world = failing(lambda replica: "broken" if runs(replica, "v2") else None)
    control.apply(chat("v2"))
    assert control.settle()
    assert control.settle()
    assert control.passes == 1


def test_a_world_that_is_assigned_says_what_exists_from_then_on() -> None:
    control = ControlPlane()
    assert control.view().schema("example.org/v1", "Odd") is None

    def world(_: View) -> list[Any]:
        return []

    world.kinds = [("example.org/v1", "Odd")]  # type: ignore[attr-defined]
    control.world = world
    assert control.world is world
    assert control.view().schema("example.org/v1", "Odd") is not None
