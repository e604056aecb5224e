"""Requirements, context and desired state through the steps of one pass."""

from datetime import timedelta
from typing import Any

import pytest

from modelplane.model.observation import Gap
from modelplane.preview import ControlPlane, Pass
from modelplane.step import Desired, Event, Request, Requirement, Result, SchemaRequirement, Severity, Step
from unit.preview.fakes import TEAM, conditions_of, config_map, endpoint, existing, inference_class, plane


def reconcile(control: ControlPlane, view: Any = None) -> Pass:
    done = control.reconcile("ModelEndpoint", TEAM, "e", view)
    assert done is not None
    return done


def by_name(name: str, **selection: Any) -> Requirement:
    return Requirement(name, "v1", "ConfigMap", match_name=name, namespace=selection.get("namespace", TEAM))


def test_a_step_is_called_until_its_requirements_repeat() -> None:
    seen = []

    def step(request: Request) -> Result:
        first, second = by_name("a"), by_name("b")
        seen.append(tuple(sorted(request.required)))
        return Result(requirements=(first, second) if first.name in request.required else (first,))

    done = reconcile(plane(endpoint(), config_map("a"), ModelEndpoint=step))
    assert seen == [(), ("a",), ("a", "b")]
    assert done.run.calls == 3


def test_a_step_that_requires_nothing_is_called_once() -> None:
    assert reconcile(plane(endpoint(), ModelEndpoint=lambda _: Result())).run.calls == 1


def test_five_rounds_of_fetching_are_granted_and_no_sixth() -> None:
    def asking(rounds: int) -> Step:
        def step(request: Request) -> Result:
            seen = int(max(request.required, default="0"))
            return Result(requirements=(by_name(str(min(seen + 1, rounds))),))

        return step

    done = reconcile(plane(endpoint(), ModelEndpoint=asking(5)))
    assert (done.error, done.run.calls) == (None, 6)
    control = plane(endpoint(), ModelEndpoint=asking(6))
    done = reconcile(control)
    assert done.run.calls == 6
    why = "requirements didn't stabilize after the maximum number of iterations (5)"
    expected = f'cannot compose resources: cannot run Composition pipeline step "step-1": {why}'
    assert conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"] == ("False", "ReconcileError", expected)


def test_unresolved_absent_and_present_are_three_states() -> None:
    seen = []

    def step(request: Request) -> Result:
        seen.append((request.one(by_name("a")), request.one(by_name("absent"))))
        return Result(requirements=(by_name("a"), by_name("absent")))

    reconcile(plane(endpoint(), config_map("a"), ModelEndpoint=step))
    assert seen[0] == (Gap.NOT_FETCHED, Gap.NOT_FETCHED)
    assert (seen[-1][0].name, seen[-1][1]) == ("a", Gap.ABSENT)


def names(requirement: Requirement, *objects: Any) -> list[str]:
    """Return what a requirement is answered with, as namespace/name."""
    control = plane(endpoint(), *objects, ModelEndpoint=lambda _: Result(requirements=(requirement,)))
    done = reconcile(control)
    assert done.error is None
    return [f"{obj.namespace}/{obj.name}" for obj in done.run.fetched.resources["step-1", requirement.name][1]]


def test_labels_and_namespace_select_in_order_of_namespace_and_name() -> None:
    objects = [
        config_map(name, namespace=namespace, labels={"l": name})
        for name, namespace in (("b", "team"), ("a", "team"), ("a", "other"))
    ]
    everywhere = Requirement("r", "v1", "ConfigMap")
    assert names(everywhere, *objects) == ["other/a", "team/a", "team/b"]
    assert names(Requirement("r", "v1", "ConfigMap", namespace="team"), *objects) == ["team/a", "team/b"]
    assert names(Requirement("r", "v1", "ConfigMap", match_labels={"l": "a"}), *objects) == ["other/a", "team/a"]
    assert names(Requirement("r", "v1", "ConfigMap", match_labels={"l": "c"}), *objects) == []


@pytest.mark.parametrize("name", ["k", None])
def test_a_cluster_scoped_object_is_found_whatever_namespace_is_asked(name: str | None) -> None:
    requirement = Requirement("r", "modelplane.ai/v1alpha1", "InferenceClass", match_name=name, namespace="team")
    assert names(requirement, inference_class()) == ["/k"]


def test_a_kind_that_does_not_exist_fails_the_pass() -> None:
    asks = Requirement("r", "example.org/v1", "Thing", match_name="t", namespace=TEAM)
    done = reconcile(plane(endpoint(), ModelEndpoint=lambda _: Result(requirements=(asks,))))
    assert done.error is not None
    assert 'no matches for kind "Thing" in version "example.org/v1"' in done.error


def test_a_namespaced_object_is_not_found_by_name_alone() -> None:
    assert names(by_name("a", namespace=None), config_map("a")) == []


def test_a_kind_can_be_asked_for_without_failing_the_pass() -> None:
    asked = {
        "ours": SchemaRequirement("ours", "modelplane.ai/v1alpha1", "ModelReplica"),
        "core": SchemaRequirement("core", "v1", "Secret"),
        "dependency": SchemaRequirement("dependency", "kubernetes.m.crossplane.io/v1alpha1", "Object"),
        "world": SchemaRequirement("world", "example.org/v1", "Played"),
        "installed": SchemaRequirement("installed", "example.org/v1", "Installed"),
        "unknown": SchemaRequirement("unknown", "example.org/v1", "Thing"),
        "version": SchemaRequirement("version", "modelplane.ai/v1beta9", "ModelReplica"),
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "installed.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Cluster",
            "names": {"kind": "Installed"},
            "versions": [{"name": "v1"}],
        },
    }

    def world(_: Any) -> tuple[()]:
        return ()

    world.kinds = {("example.org/v1", "Played")}  # type: ignore[attr-defined]
    step = plane(endpoint(), crd, world=world, ModelEndpoint=lambda _: Result(schemas=tuple(asked.values())))
    done = reconcile(step)
    exists = {name: schema is not None for (_, name), (_, schema) in done.run.fetched.schemas.items()}
    assert exists == {name: name not in {"unknown", "version"} for name in asked}
    _, schema = done.run.fetched.schemas["step-1", "ours"]
    assert schema is not None
    assert "clusterName" in schema["properties"]["spec"]["properties"]


def test_required_resources_are_read_from_the_view_and_composed_ones_as_they_are() -> None:
    seen: list[tuple[Any, str]] = []

    def step(request: Request) -> Result:
        found = request.one(by_name("a"))
        if not isinstance(found, Gap):
            seen.append((found.body["data"]["v"], request.observed["own"].body["data"]["v"]))
        own = request.observed.get("own")
        manifest = config_map("own", own.body["data"] if own else {"v": "old"})
        return Result(requirements=(by_name("a"),), desired={"own": Desired.of(manifest)})

    control = plane(config_map("a", {"v": "old"}), endpoint(), ModelEndpoint=step)
    control.reconcile("ModelEndpoint", TEAM, "e", plane().view())
    view = control.view()
    control.apply(config_map("a", {"v": "new"}))
    own = existing(control, "ConfigMap", TEAM, "own")
    control.apply({**own, "data": {"v": "new"}})
    reconcile(control, view)
    reconcile(control)
    assert seen == [("old", "new"), ("new", "new")]


def test_each_step_sees_what_the_earlier_ones_wanted_and_said() -> None:
    seen = []

    def first(_: Request) -> Result:
        status = {"routing": {"hostname": "one", "port": 1}}
        wanted = {"a": Desired.of(config_map("a")), "both": Desired.of(config_map("both", {"by": "first"}))}
        return Result(desired=wanted, status=status, context={"k": "v"}, ttl=timedelta(seconds=60))

    def second(request: Request) -> Result:
        seen.append((sorted(request.desired_names), request.context["k"]))
        wanted = {"both": Desired.of(config_map("both", {"by": "second"}))}
        return Result(desired=wanted, status={"routing": {"hostname": "two"}}, ttl=timedelta(seconds=10))

    control = plane(endpoint(), ModelEndpoint=(first, second))
    done = reconcile(control)
    assert seen == [(["a", "both"], "v")]
    assert {o["metadata"]["name"]: o["data"] for o in control.list("ConfigMap")} == {"a": {}, "both": {"by": "second"}}
    assert existing(control, "ModelEndpoint", TEAM, "e")["status"]["routing"] == {"hostname": "two"}
    assert done.run.ttl == timedelta(seconds=10)


def test_context_passes_between_the_calls_of_a_step_and_not_between_passes() -> None:
    seen = []

    def step(request: Request) -> Result:
        seen.append(request.context.get("calls", 0))
        return Result(context={"calls": len(request.required) + 1}, requirements=(by_name("a"),))

    control = plane(endpoint(), ModelEndpoint=step)
    reconcile(control)
    reconcile(control)
    assert seen == [0, 1, 0, 1]


def test_warnings_of_a_pipeline_are_reported() -> None:
    events = (Event(Severity.NORMAL, "fine"), Event(Severity.WARNING, "careful"))
    assert reconcile(plane(endpoint(), ModelEndpoint=lambda _: Result(events=events))).warnings == ("careful",)
