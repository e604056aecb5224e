"""An engine's pod that is being deleted answers what it has taken before it is asked to stop."""

from typing import Any

import pytest

from modelplane.observed.stamp import carried_content, stamp_digest, wanted_content
from unit.compose_replica import replicas as given


def _pods(**spec: Any) -> list[dict[str, Any]]:
    """Return the pod specs of a Standalone's Deployment and of a gang's leader and worker."""
    standalone, gang = given.replica(), given.replica(given.gang())
    for body in (standalone, gang):
        body["spec"] |= spec
    sets = given.manifest_of(given.run(gang), "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]
    alone = given.manifest_of(given.run(standalone), "deployment-main")["spec"]["template"]
    return [made["spec"] for made in (alone, sets["leaderTemplate"], sets["workerTemplate"])]


@pytest.mark.parametrize(("spec", "seconds"), [({}, 120), ({"drainSeconds": 7}, 7)])
def test_every_engine_pod_waits_for_its_drain_seconds_and_then_has_thirty_to_stop(
    spec: dict[str, Any], seconds: int
) -> None:
    for pod in _pods(**spec):
        assert pod["containers"][0]["lifecycle"] == {"preStop": {"sleep": {"seconds": seconds}}}
        assert pod["terminationGracePeriodSeconds"] == seconds + 30


def test_without_a_drain_a_pod_has_no_hook_because_kubernetes_refuses_to_sleep_for_no_time() -> None:
    for pod in _pods(drainSeconds=0):
        assert ("lifecycle" in pod["containers"][0], pod["terminationGracePeriodSeconds"]) == (False, 30)


def test_a_hung_engine_is_restarted_without_the_drain() -> None:
    container = _pods()[0]["containers"][0]
    restarting = {
        probe: container[probe]["terminationGracePeriodSeconds"] for probe in ("startupProbe", "livenessProbe")
    }
    assert restarting == {"startupProbe": 30, "livenessProbe": 30}
    assert "terminationGracePeriodSeconds" not in container["readinessProbe"]  # the API server refuses it there


def test_drain_seconds_are_part_of_the_stamp_and_their_default_is_not() -> None:
    body = given.replica()
    deployment = {**body, "kind": "ModelDeployment", "spec": {"engines": [given.engine()]}}

    def of(seconds: int | None) -> tuple[str, str, str]:
        spec = {} if seconds is None else {"drainSeconds": seconds}
        replica = given.obj({**body, "spec": {**body["spec"], **spec}})
        asked = given.obj({**deployment, "spec": {**deployment["spec"], **spec}})
        return stamp_digest(replica, ""), carried_content(replica), wanted_content(asked)

    assert of(None) == of(120)
    assert all(one != two for one, two in zip(of(None), of(60), strict=True))
