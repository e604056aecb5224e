"""An engine is its user's: whatever the template, all that is added to it is what the API page lists."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unit.compose_replica import replicas

TEXTS = st.text(max_size=20)
NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,10}", fullmatch=True)
KEYS = st.fixed_dictionaries({"name": st.sampled_from(["a", "b"]), "key": TEXTS}, optional={"optional": st.booleans()})
FIELDS = st.sampled_from(["status.podIP", "spec.nodeName", "metadata.uid", "metadata.labels['a']"])
SOURCES = st.one_of(
    st.fixed_dictionaries({"secretKeyRef": KEYS}),
    st.fixed_dictionaries({"configMapKeyRef": KEYS}),
    st.fixed_dictionaries({"fieldRef": st.fixed_dictionaries({"fieldPath": FIELDS}, optional={"apiVersion": TEXTS})}),
)
ROWS = st.one_of(
    st.fixed_dictionaries({"name": NAMES}),
    st.fixed_dictionaries({"name": NAMES, "value": TEXTS}),
    st.fixed_dictionaries({"name": NAMES, "valueFrom": SOURCES}),
)
CONTAINERS = st.fixed_dictionaries(
    {"name": st.just("engine"), "image": st.text(min_size=1, max_size=20)},
    optional={
        "command": st.lists(TEXTS, max_size=5),
        "args": st.lists(TEXTS, max_size=8),
        "env": st.lists(ROWS, max_size=6),
    },
)
#: What makes a container run and serve; nothing of it is the engine's business.
PROBES = {"startupProbe", "readinessProbe", "livenessProbe"}
AROUND = {
    "ports",
    "lifecycle",
    "volumeMounts",
    "resources",
    "securityContext",
    "terminationMessagePolicy",
    *PROBES,
}
GANG = [
    {"name": "MODELPLANE_LEADER_ADDRESS", "value": "$(LWS_LEADER_ADDRESS)"},
    {"name": "MODELPLANE_RANK", "value": "$(LWS_WORKER_INDEX)"},
]


def _template(container: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"containers": [container]}}


def _engine_of(template: dict[str, Any]) -> dict[str, Any]:
    (container,) = template["spec"]["containers"]
    return {name: value for name, value in container.items() if name not in AROUND}


@settings(deadline=None, max_examples=40)
@given(container=CONTAINERS)
def test_a_standalone_engine_is_its_template_to_the_letter(container: dict[str, Any]) -> None:
    body = replicas.replica(replicas.engine(members=[replicas.member(template=_template(container))]))
    workload = replicas.manifest_of(replicas.run(body), "deployment-main")
    assert _engine_of(workload["spec"]["template"]) == container


@pytest.mark.proves("P20")
@settings(deadline=None, max_examples=40)
@given(leader=CONTAINERS, worker=CONTAINERS)
def test_a_gangs_engines_get_their_leader_and_rank_first_and_nothing_else(
    leader: dict[str, Any], worker: dict[str, Any]
) -> None:
    members = [
        replicas.member(role="Leader", template=_template(leader)),
        replicas.member(role="Worker", worker={"nodes": 2}, template=_template(worker)),
    ]
    result = replicas.run(replicas.replica(replicas.engine(members=members)))
    made = replicas.manifest_of(result, "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]
    for given_, composed in ((leader, made["leaderTemplate"]), (worker, made["workerTemplate"])):
        assert _engine_of(composed) == {**given_, "env": [*GANG, *given_.get("env", [])]}


def test_a_variable_that_the_user_sets_is_the_users() -> None:
    own = [{"name": "MODELPLANE_RANK", "value": "7"}]
    body = replicas.replica(replicas.gang(template=_template(replicas.container(env=own))))
    made = replicas.manifest_of(replicas.run(body), "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]
    assert _engine_of(made["leaderTemplate"])["env"] == [GANG[0], *own]
