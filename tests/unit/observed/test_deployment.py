"""How a ModelDeployment is read: strictly, and what cannot be read names its field."""

from dataclasses import replace
from typing import Any

import pytest

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role, Toleration
from modelplane.model.fleet import Effect
from modelplane.model.observation import Malformed
from modelplane.model.rollout import Amount, Rollout
from modelplane.observed.deployment import listed_replicas, read_deployment
from modelplane.step import Object
from profiles import with_content

TEMPLATE: dict[str, Any] = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
STANDALONE = {"nodeSelector": {"devices": [{"name": "gpu", "selectors": [{"cel": "true"}]}]}, "template": TEMPLATE}


def deployment(spec: object) -> Object:
    metadata = {"name": "qwen", "namespace": "ml", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return Object({"kind": "ModelDeployment", "metadata": metadata, "spec": spec}, repr(spec))


@pytest.mark.proves("P7")
def test_fields_that_are_left_out_have_the_defaults_of_the_api() -> None:
    read = read_deployment(deployment({"engines": [{"name": "main", "members": [STANDALONE]}]}))
    assert isinstance(read, Deployment)
    assert replace(with_content(read, ""), revision="") == Deployment(
        namespace="ml",
        name="qwen",
        uid="u",
        profiles=(Profile((Engine("main", (Member(Role.STANDALONE, 1, (DeviceRequest("gpu", 1, ("true",)),)),), 1),)),),
        created="2026-01-01T00:00:00Z",
        replicas=1,
        carried=read.carried,
        choice=read.choice,
    )


def test_everything_that_placement_turns_on_is_read() -> None:
    worker = {"role": "Worker", "worker": {"nodes": 3}, "template": TEMPLATE}
    spec = {
        "replicas": 0,
        "clusterSelector": {"matchLabels": {"region": "eu"}},
        "modelCacheRef": {"name": "weights"},
        "tolerations": [{"operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute"}],
        "engines": [{"name": "main", "copies": 2, "members": [{**STANDALONE, "role": "Leader"}, worker]}],
    }
    read = read_deployment(deployment(spec))
    assert isinstance(read, Deployment)
    assert [(member.role, member.pods) for member in read.profiles[0].engines[0].members] == [
        (Role.LEADER, 1),
        (Role.WORKER, 3),
    ]
    assert (read.replicas, read.cluster_selector, read.cache) == (0, {"region": "eu"}, "weights")
    assert read.tolerations == (
        Toleration(exists=True),
        Toleration("k", exists=False, value="v", effect=Effect.NO_EXECUTE),
    )


@pytest.mark.parametrize(
    ("rollout", "expected"),
    [
        ({}, Rollout()),
        ({"maxSurge": 0, "maxUnavailable": "50%"}, Rollout(Amount(0), Amount(50, percent=True))),
        (
            {"paused": True, "followSelectors": True, "followUpgrades": True},
            Rollout(paused=True, follow_selectors=True, follow_upgrades=True),
        ),
    ],
)
def test_how_edits_are_rolled_out_is_read(rollout: dict[str, Any], expected: Rollout) -> None:
    spec = {"rollout": rollout, "engines": [{"name": "main", "members": [STANDALONE]}]}
    read = read_deployment(deployment(spec))
    assert isinstance(read, Deployment)
    assert read.rollout == expected


def test_a_worker_without_a_worker_block_means_one_worker_node() -> None:
    members = [{**STANDALONE, "role": "Leader"}, {"role": "Worker", "template": TEMPLATE}]
    read = read_deployment(deployment({"engines": [{"name": "main", "members": members}]}))
    assert isinstance(read, Deployment)
    assert read.profiles[0].engines[0].members[1].pods == 1


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (None, "spec"),
        ("x", "spec"),
        ({}, "spec.engines"),
        ({"engines": {}}, "spec.engines"),
        ({"engines": [{"members": [STANDALONE]}]}, "spec.engines[0].name"),
        ({"engines": [{"name": "a", "members": [{**STANDALONE, "role": "Pilot"}]}]}, "spec.engines[0].members[0].role"),
        ({"replicas": "many", "engines": [{"name": "a", "members": [STANDALONE]}]}, "spec.replicas"),
    ],
    ids=repr,
)
def test_what_cannot_be_read_names_the_field(spec: object, field: str) -> None:
    read = read_deployment(deployment(spec))
    assert isinstance(read, Malformed)
    assert (read.name, read.field) == ("qwen", field)


def test_what_cannot_be_read_is_reported_without_the_value_which_may_be_a_credential() -> None:
    container = {"name": "engine", "image": "e", "env": [{"value": "hunter2"}, {"name": ["hunter2"]}]}
    engine = {"name": "a", "members": [{**STANDALONE, "template": {"spec": {"containers": [container]}}}]}
    read = read_deployment(deployment({"engines": [engine]}))
    assert isinstance(read, Malformed)
    assert read.field.endswith(".env[0].name")
    assert "hunter2" not in str(read)


def test_a_status_without_a_list_of_replicas_lists_nothing_yet() -> None:
    table: list[tuple[object, frozenset[str] | None]] = [
        (None, None),
        ({}, None),
        ({"placements": "none"}, None),
        ({"placements": []}, frozenset()),
        ({"placements": [{"name": "one"}, {"name": "two"}, "three"]}, frozenset({"one", "two"})),
    ]
    for status, expected in table:
        assert listed_replicas(Object({"kind": "ModelDeployment", "status": status}, "digest")) == expected, status
