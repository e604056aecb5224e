"""The engine container is the user's: image, command, args and env arrive as they were given, in their order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.kube.pod import EnginePod, Health, MemberPod, pod_template, serving

TEXTS = st.text(max_size=20)
NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,10}", fullmatch=True)
SOURCES = st.one_of(
    st.fixed_dictionaries({"secretKeyRef": st.fixed_dictionaries({"name": TEXTS, "key": TEXTS})}),
    st.fixed_dictionaries({"fieldRef": st.fixed_dictionaries({"fieldPath": TEXTS})}),
)
ROWS = st.fixed_dictionaries({"name": NAMES}, optional={"value": TEXTS, "valueFrom": SOURCES})
CONTAINERS = st.fixed_dictionaries(
    {"name": st.just("engine"), "image": TEXTS},
    optional={
        "command": st.lists(TEXTS, max_size=5),
        "args": st.lists(TEXTS, max_size=8),
        "env": st.lists(ROWS, max_size=6),
    },
)
PROBES = {"startupProbe", "readinessProbe", "livenessProbe"}
ADDED = {"ports", "volumeMounts", "resources", "securityContext", "terminationMessagePolicy", *PROBES}


@pytest.mark.proves("P4")
@given(container=CONTAINERS, claim=st.none() | TEXTS)
def test_nothing_of_the_users_container_is_changed_dropped_or_reordered(
    container: dict[str, Any], claim: str | None
) -> None:
    pod = EnginePod(MemberPod(pool="p", container=serving(container, Health())), "w", claim=claim)
    (composed,) = pod_template(pod)["spec"]["containers"]
    assert {key: value for key, value in composed.items() if key not in ADDED} == container
    assert ("resources" in composed) is bool(claim)


def test_a_crash_is_explained_by_the_end_of_the_log_where_the_engine_writes_no_message() -> None:
    pod = EnginePod(MemberPod(pool="p", container={"name": "engine"}), "w")
    (composed,) = pod_template(pod)["spec"]["containers"]
    assert composed["terminationMessagePolicy"] == "FallbackToLogsOnError"


@pytest.mark.proves("P5")
@given(labels=st.dictionaries(TEXTS, TEXTS, max_size=3), annotations=st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_the_members_labels_and_annotations_reach_the_pod(labels: dict[str, str], annotations: dict[str, str]) -> None:
    pod = EnginePod(MemberPod(pool="p", container={}, labels=labels, annotations=annotations), "w")
    metadata = pod_template(pod)["metadata"]
    assert metadata["labels"] == {**labels, "modelplane.ai/workload": "w"}
    assert metadata.get("annotations", {}) == annotations
