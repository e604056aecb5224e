"""Whatever goes wrong around it, a serving replica keeps its workload: only its owner's word ends it."""

import pytest

from unit.compose_replica.disturbances import DISTURBANCES, Disturbance, serving, workloads


@pytest.mark.parametrize("disturb", DISTURBANCES.values(), ids=DISTURBANCES)
def test_a_serving_workload_outlives(disturb: Disturbance) -> None:
    control = serving()
    before = workloads(control)
    disturb(control)
    assert workloads(control) >= before
    for kind, namespace, name in (("InferenceCluster", None, "eu"), ("ModelDeployment", "team", "chat")):
        control.reconcile(kind, namespace, name)
        assert workloads(control) >= before
    assert control.settle()
    assert workloads(control) >= before
    (replica,) = control.list("ModelReplica")
    assert replica["status"]["served"] is True
