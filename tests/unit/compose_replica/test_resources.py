"""What an engine asks of its node beside devices, as its pods ask Kubernetes for it."""

from typing import Any

from unit.compose_replica import replicas as given

ASKED = {"requests": {"cpu": 8, "memory": "64Gi"}, "limits": {"memory": "96Gi"}}


def pods_of(engine: dict[str, Any], resource: str) -> dict[str, Any]:
    spec: dict[str, Any] = given.manifest_of(given.run(given.replica(engine)), resource)["spec"]
    return spec


def test_a_pod_asks_for_cpu_and_memory_beside_its_devices() -> None:
    template = pods_of(given.engine(members=[given.member(resources=ASKED)]), "deployment-main")["template"]
    (container,) = template["spec"]["containers"]
    assert container["resources"] == {**ASKED, "claims": [{"name": "devices"}]}


def test_pods_of_an_engine_that_ask_for_memory_keep_to_nodes_of_their_own_without_devices_too() -> None:
    gang = given.gang()
    leader, _ = gang["members"]
    leader.pop("deviceRequests", None)
    plain = pods_of(gang, "leaderworkerset-main")["leaderWorkerTemplate"]["leaderTemplate"]
    assert "resources" not in plain["spec"]["containers"][0]
    leader["resources"] = ASKED
    asking = pods_of(gang, "leaderworkerset-main")["leaderWorkerTemplate"]
    assert asking["leaderTemplate"]["spec"]["containers"][0]["resources"] == ASKED
    (term,) = asking["leaderTemplate"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    for template in (asking["leaderTemplate"], asking["workerTemplate"]):
        assert term["labelSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()


def shared_memory(**member: Any) -> dict[str, Any]:
    template = pods_of(given.engine(members=[given.member(**member)]), "deployment-main")["template"]
    (volume,) = (each for each in template["spec"]["volumes"] if each["name"] == "shared-memory")
    found: dict[str, Any] = volume["emptyDir"]
    return found


def test_shared_memory_is_bounded_by_its_own_bound_else_by_the_memory_limit_else_not() -> None:
    assert shared_memory() == {"medium": "Memory"}
    assert shared_memory(resources={"requests": {"memory": "64Gi"}}) == {"medium": "Memory"}
    assert shared_memory(resources=ASKED) == {"medium": "Memory", "sizeLimit": "96Gi"}
    assert shared_memory(resources=ASKED, sharedMemory="16Gi") == {"medium": "Memory", "sizeLimit": "16Gi"}
