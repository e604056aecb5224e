"""InferenceClusters of one cluster come and go in any order, between any two passes: none loses what it serves by."""

from hypothesis import given, settings
from hypothesis import strategies as st

from unit.compose_cluster import test_sharing as shared

NAMES = ("eu-1", "eu-2", "eu-3")
#: Of one InferenceCluster: some passes, while the others make none; it is deleted; it is applied, and so many passes.
STEPS = st.lists(st.tuples(st.sampled_from(("pass", "delete", "add")), st.sampled_from(NAMES), st.integers(0, 6)))


@settings(max_examples=40)
@given(STEPS, st.booleans())
def test_nothing_that_one_needs_is_deleted_by_another(steps: list[tuple[str, str, int]], alone: bool) -> None:
    control, there = shared.begin(names=NAMES[:1] if alone else NAMES)
    there.names = frozenset(NAMES)
    #: The InferenceClusters that take replicas, or have taken them since they were applied.
    used = shared.ready(control, NAMES)
    for step, name, passes in steps:
        deleted = len(there.deleted)
        if step == "delete":
            control.delete("InferenceCluster", None, name)
            used -= {name}
        elif step == "add":
            control.apply(shared.sharing(name))
        for _ in range(passes):
            control.reconcile("InferenceCluster", None, name)
            used |= shared.ready(control, NAMES)
        # The provider acts on what is deleted.
        control.reconcile("InferenceClass", None, "gpu-class")
        assert not used or len(there.deleted) == deleted, (step, name, used, there.deleted[deleted:])
    assert len(there.certificates) <= 1 + len(there.deleted)
