"""InferenceClusters of one cluster come and go in any order, between any two passes: none loses what it serves by."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from given.manifests import cluster
from unit.compose_cluster import test_sharing as shared

NAMES = ("eu-1", "eu-2", "eu-3")
#: Of one InferenceCluster: some passes, while the others make none; it is deleted; it is applied with the annotation
#: that it shares its cluster, or without; its spec is invalid from now on, or valid again; and so many passes. With
#: "settle" all of them make their passes first.
ACTS = ("pass", "settle", "delete", "add", "un-annotate", "hold", "release")
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from(NAMES), st.integers(0, 6)))


@settings(max_examples=40)
@given(STEPS, st.integers(1, len(NAMES)))
@example([("un-annotate", "eu-2", 0), ("settle", "eu-1", 0), ("delete", "eu-1", 0)], 2)
@example([("hold", "eu-1", 0), ("add", "eu-2", 1), ("settle", "eu-1", 0), ("delete", "eu-1", 0)], 1)
@example([("un-annotate", "eu-2", 0), ("settle", "eu-1", 0), ("add", "eu-2", 1), ("delete", "eu-1", 0)], 2)
def test_nothing_that_one_needs_is_deleted_by_another(steps: list[tuple[str, str, int]], count: int) -> None:
    held: set[str] = set()
    control, there = shared.begin(names=NAMES[:count], held=held)
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
        elif step == "un-annotate":
            control.apply(cluster(name, pool=f"pool-{name}"))
        elif step == "hold":
            held.add(name)
        elif step == "release":
            held.discard(name)
        elif step == "settle":
            shared.settle(control)
        for _ in range(passes):
            control.reconcile("InferenceCluster", None, name)
            used |= shared.ready(control, NAMES)
        # The provider acts on what is deleted.
        control.reconcile("InferenceClass", None, "gpu-class")
        assert not used or len(there.deleted) == deleted, (step, name, used, there.deleted[deleted:])
    assert len(there.certificates) <= 1 + len(there.deleted)
