"""No sequence of mishaps around a serving replica ever deletes its workload."""

from hypothesis import given
from hypothesis import strategies as st

from property.strategies import examples
from unit.compose_replica.disturbances import DISTURBANCES, serving, workloads

KINDS = (("InferenceCluster", None, "eu"), ("ModelDeployment", "team", "chat"))
#: A mishap, and how far the control plane comes before the next one: one pass of a kind, or all the way to rest.
STEPS = st.tuples(st.sampled_from(sorted(DISTURBANCES)), st.sampled_from([*KINDS, None]))


@examples(60)
@given(steps=st.lists(STEPS, min_size=2, max_size=6))
def test_a_serving_workload_outlives_any_six_mishaps(
    steps: list[tuple[str, tuple[str, str | None, str] | None]],
) -> None:
    control = serving()
    before = workloads(control)
    for mishap, composite in steps:
        DISTURBANCES[mishap](control)
        if composite is None:
            control.settle()
        else:
            control.reconcile(*composite)
        assert workloads(control) >= before, mishap
    assert control.settle()
    assert workloads(control) >= before
