"""Applying, patching, and settling to a fixed point."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.preview import ControlPlane, InvalidObject, View
from modelplane.step import Desired, Request, Requirement, Result
from unit.preview.fakes import TEAM, composing, conditions_of, config_map, endpoint, existing, inference_class, plane


def test_applying_again_keeps_what_the_control_plane_wrote() -> None:
    control = plane(endpoint(), ModelEndpoint=composing(a=config_map("a")))
    control.settle()
    before = existing(control, "ModelEndpoint", TEAM, "e")
    control.apply(endpoint())
    after = existing(control, "ModelEndpoint", TEAM, "e")
    assert (after["status"], after["spec"]) == (before["status"], before["spec"])
    assert after["metadata"]["labels"] == {"crossplane.io/composite": "e"}
    control.settle()
    assert [obj["metadata"]["name"] for obj in control.list("ConfigMap")] == ["a"]


def test_applying_again_drops_labels_that_are_no_longer_given() -> None:
    control = plane(config_map(labels={"l": "v"}))
    control.apply(config_map())
    assert "labels" not in existing(control, "ConfigMap", TEAM, "c")["metadata"]


def test_a_composed_object_that_a_person_applies_is_still_its_composites() -> None:
    control = plane(endpoint(), ModelEndpoint=composing(a=config_map("a", {"k": "ours"})))
    control.settle()
    control.apply(config_map("a", {"k": "theirs"}))
    control.settle()
    assert existing(control, "ConfigMap", TEAM, "a")["data"] == {"k": "ours"}


def test_a_status_is_patched_by_a_merge_patch() -> None:
    control = plane({**endpoint(), "status": {"routing": {"hostname": "h", "port": 1}}})
    control.patch_status("ModelEndpoint", TEAM, "e", {"routing": {"port": None, "fqdn": "f"}})
    assert existing(control, "ModelEndpoint", TEAM, "e")["status"] == {"routing": {"hostname": "h", "fqdn": "f"}}


def test_the_status_of_nothing_cannot_be_patched() -> None:
    with pytest.raises(InvalidObject):
        plane().patch_status("ModelEndpoint", TEAM, "e", {})


@pytest.mark.parametrize("kind", ["ModelService", "ConfigMap"])
def test_what_has_no_composition_is_left_alone(kind: str) -> None:
    assert plane(config_map("x")).reconcile(kind, TEAM, "x") is None


def test_settling_reconciles_what_was_composed_too() -> None:
    def step(request: Request) -> Result:
        depth = int(request.composite.body["spec"]["host"])
        child = {**endpoint(f"child-{depth}"), "spec": {"url": "http://example.org", "host": str(depth - 1)}}
        return Result(desired={"child": Desired.of(child)} if depth else {})

    control = plane({**endpoint(), "spec": {"url": "http://example.org", "host": "3"}}, ModelEndpoint=step)
    assert control.settle()
    assert [obj["metadata"]["name"] for obj in control.list("ModelEndpoint")] == ["child-1", "child-2", "child-3", "e"]


def test_what_never_settles_is_given_up_after_so_many_rounds() -> None:
    calls: Counter[str] = Counter()

    def flapping(_: Request) -> Result:
        calls["step"] += 1
        return Result(desired={"a": Desired.of(config_map("a", {"n": str(calls["step"])}))})

    control = plane(endpoint(), ModelEndpoint=flapping)
    assert control.settle(max_passes=7) is False
    assert control.passes == 7


def counted(*objects: Any, world: Any = None) -> tuple[ControlPlane, Counter[str]]:
    """Return a settled plane whose endpoints each require the ConfigMap of their name, and the calls of its step."""
    calls: Counter[str] = Counter()

    def step(request: Request) -> Result:
        name = request.composite.name
        calls[name] += 1
        wanted = {"own": Desired.of(config_map(f"own-{name}"), ready=True)}
        return Result(wanted, requirements=(Requirement("r", "v1", "ConfigMap", match_name=name, namespace=TEAM),))

    control = plane(endpoint("a"), endpoint("b"), *objects, world=world, ModelEndpoint=step)
    assert control.settle()
    calls.clear()
    return control, calls


def test_settling_again_calls_nothing() -> None:
    control, calls = counted()
    assert control.settle()
    assert (control.passes, calls) == (1, Counter())


#: What a person does to a settled control plane, and which composites are then due.
CHANGES = {
    "a required object appears": (lambda c: c.apply(config_map("a")), {"a"}),
    "an object that no step requires appears": (lambda c: c.apply(config_map("z")), set()),
    "a composed object changes": (lambda c: c.apply(config_map("own-b", {"k": "v"})), {"b"}),
    "a composed object goes": (lambda c: c.delete("ConfigMap", TEAM, "own-b"), {"b"}),
    "a composite changes": (lambda c: c.apply(endpoint("a", labels={"l": "v"})), {"a"}),
    "a status is patched": (lambda c: c.patch_status("ModelEndpoint", TEAM, "a", {"routing": {"port": 1}}), {"a"}),
    "a composite goes": (lambda c: c.delete("ModelEndpoint", TEAM, "a"), set()),
}


@pytest.mark.parametrize(("change", "due"), CHANGES.values(), ids=CHANGES)
def test_only_what_a_change_concerns_is_reconciled(change: Any, due: set[str]) -> None:
    control, calls = counted()
    change(control)
    assert control.settle()
    assert set(calls) == due


def test_a_pass_by_an_old_view_is_made_up_for() -> None:
    control, calls = counted()
    view = control.view()
    control.apply(config_map("a"))
    control.reconcile("ModelEndpoint", TEAM, "a", view)
    calls.clear()
    control.settle()
    assert set(calls) == {"a"}


def test_a_composite_that_came_with_a_status_is_left_as_it_came() -> None:
    came = {**endpoint("came"), "status": {"routing": {"hostname": "as it came"}}}
    control, calls = counted(came)
    assert existing(control, "ModelEndpoint", TEAM, "came")["status"] == {"routing": {"hostname": "as it came"}}
    control.patch_status("ModelEndpoint", TEAM, "came", {"routing": {"hostname": "patched"}})
    control.settle()
    assert calls["came"] == 0
    changed = {**endpoint("came"), "spec": {"url": "http://changed.example.org"}}
    control.apply(changed)
    control.settle()
    assert calls["came"] > 0
    assert conditions_of(control.get("ModelEndpoint", TEAM, "came"))["Ready"][0] == "True"


def test_a_world_answers_after_each_pass_with_merge_patches() -> None:
    views: list[View] = []

    def world(view: View) -> Iterator[tuple[str, str | None, str, dict[str, Any]]]:
        views.append(view)
        yield "ConfigMap", TEAM, "own-a", {"seen": {"by": "world"}}
        yield "ConfigMap", TEAM, "nowhere", {"seen": {}}
        yield "InferenceClass", None, "k", {"conditions": []}

    control, _ = counted(inference_class(), world=world)
    assert existing(control, "ConfigMap", TEAM, "own-a")["status"] == {"seen": {"by": "world"}}
    assert existing(control, "InferenceClass", None, "k")["status"] == {"conditions": []}
    before = len(views)
    control.reconcile("ModelEndpoint", TEAM, "a")
    assert len(views) == before + 1
    assert views[-1].get("ConfigMap", TEAM, "own-a") is not None


def test_the_same_objects_in_the_same_order_come_to_the_same_end() -> None:
    ends = []
    for _ in range(2):
        control, _ = counted(config_map("a"), config_map("b"))
        ends.append(control.everything())
    assert ends[0] == ends[1]
