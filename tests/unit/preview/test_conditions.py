"""The status that a pass leaves: Crossplane's own conditions, a pipeline's, and what a failure makes of them."""

from typing import Any

import pytest

from modelplane.model.conditions import Condition, Status
from modelplane.preview import ControlPlane
from modelplane.preview.conditions import first_names
from modelplane.step import Desired, Request, Result, Step
from unit.preview.fakes import TEAM, composing, conditions_of, config_map, endpoint, existing, plane

ROUTED = Condition("RoutingReady", Status.TRUE, "BackendConfigured", "all is well")


def by_annotation(results: dict[str, Result]) -> Step:
    """Return a step that answers with the result that the composite's annotation `do` names, else with the first."""
    first = next(iter(results))
    return lambda request: results[request.composite.metadata.get("annotations", {}).get("do", first)]


def passed(control: ControlPlane, do: str | None = None) -> dict[str, Any]:
    """Return the composite after another pass, in which the step does this."""
    if do:
        control.apply(endpoint(annotations={"do": do}))
    control.reconcile("ModelEndpoint", TEAM, "e")
    made = control.get("ModelEndpoint", TEAM, "e")
    assert made is not None
    return made


def test_a_composite_whose_resources_are_ready_is_ready() -> None:
    made = passed(plane(endpoint(), ModelEndpoint=composing(a=config_map("a"))))
    assert conditions_of(made)["Synced"] == ("True", "ReconcileSuccess", "")
    assert conditions_of(made)["Ready"] == ("True", "Available", "")
    assert conditions_of(made)["Responsive"] == ("True", "WatchCircuitClosed", "")


def test_a_composite_that_composes_nothing_is_ready() -> None:
    assert conditions_of(passed(plane(endpoint(), ModelEndpoint=composing())))["Ready"] == ("True", "Available", "")


#: Readiness of resources and the pipeline's own word, and the Ready that comes of them.
READINESS = {
    "one is not ready": ({"a": True, "b": False}, None, ("False", "Creating", "Unready resources: b")),
    "the pipeline's no wins": ({"a": True}, False, ("False", "Creating", "")),
    "the pipeline's yes wins": ({"a": False}, True, ("True", "Available", "")),
}


@pytest.mark.parametrize(("resources", "word", "expected"), READINESS.values(), ids=READINESS)
def test_readiness_is_that_of_the_resources_unless_the_pipeline_says_it(
    resources: dict[str, bool], word: bool | None, expected: tuple[str, str, str]
) -> None:
    wanted = {name: Desired.of(config_map(name), ready=ready) for name, ready in resources.items()}
    made = passed(plane(endpoint(), ModelEndpoint=lambda _: Result(desired=wanted, ready=word)))
    assert conditions_of(made)["Ready"] == expected


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ba", "a, b"), ("cab", "a, b, and c"), ("dcba", "a, b, c, and 1 more")],
)
def test_a_message_names_the_first_three(names: str, text: str) -> None:
    assert first_names(names) == text


def test_crossplanes_own_conditions_cannot_be_set_by_a_pipeline() -> None:
    claims = tuple(Condition(kind, Status.FALSE, "Claimed") for kind in ("Ready", "Synced", "Healthy", "Responsive"))
    made = passed(plane(endpoint(), ModelEndpoint=lambda _: Result(conditions=claims)))
    assert {kind: reported[0] for kind, reported in conditions_of(made).items() if kind != "RoutingReady"} == {
        "Responsive": "True",
        "Synced": "True",
        "Ready": "True",
    }


def test_a_condition_keeps_its_time_until_it_says_something_else() -> None:
    reported = {"one": "first", "other": "second"}
    results = {do: Result(conditions=(Condition("RoutingReady", Status.TRUE, "R", m),)) for do, m in reported.items()}
    control = plane(endpoint(), ModelEndpoint=by_annotation(results))

    def since(made: dict[str, Any]) -> str:
        times = (c["lastTransitionTime"] for c in made["status"]["conditions"] if c["type"] == "RoutingReady")
        return str(next(times))

    first = since(passed(control))
    control.apply(config_map())
    assert since(passed(control)) == first
    assert since(passed(control, "other")) > first


def test_a_fatal_result_changes_nothing_but_says_so() -> None:
    wanted = {"a": Desired.of(config_map("a"), ready=True)}
    good = Result(desired=wanted, conditions=(ROUTED,), status={"routing": {"hostname": "h"}})
    control = plane(endpoint(), ModelEndpoint=by_annotation({"good": good, "bad": Result(fatal="no input")}))
    before = passed(control)
    made = passed(control, "bad")
    text = 'cannot compose resources: pipeline step "step-1" returned a fatal result: no input'
    assert conditions_of(made)["Synced"] == ("False", "ReconcileError", text)
    assert conditions_of(made)["Ready"] == conditions_of(before)["Ready"]
    assert made["status"]["routing"] == {"hostname": "h"}
    assert control.get("ConfigMap", TEAM, "a") is not None


def test_a_fatal_result_sets_its_own_conditions() -> None:
    missing = Condition("RoutingReady", Status.FALSE, "InvalidURL", "no host")
    made = passed(plane(endpoint(), ModelEndpoint=lambda _: Result(fatal="no input", conditions=(missing,))))
    assert conditions_of(made)["RoutingReady"] == ("False", "InvalidURL", "no host")


def test_a_condition_that_a_failed_pass_did_not_set_is_unknown() -> None:
    extra = Condition("Extra", Status.TRUE, "Fine")
    good, bad = Result(conditions=(ROUTED, extra)), Result(fatal="no input")
    control = plane(endpoint(), ModelEndpoint=by_annotation({"good": good, "bad": bad}))
    passed(control)
    made = passed(control, "bad")
    message = "A fatal error occurred before the status of this condition could be determined."
    assert conditions_of(made)["Extra"] == ("Unknown", "FatalError", message)
    # The run time repeats the conditions of the composite's kind in every answer, fatal ones too.
    assert conditions_of(made)["RoutingReady"] == ("True", "BackendConfigured", "all is well")


def test_an_error_of_crossplane_drops_what_the_pipeline_said() -> None:
    wrong = {"n": Desired.of({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})}
    good, bad = Result(conditions=(ROUTED,)), Result(conditions=(ROUTED,), desired=wrong)
    control = plane(endpoint(), ModelEndpoint=by_annotation({"good": good, "bad": bad}))
    passed(control)
    made = passed(control, "bad")
    assert conditions_of(made)["RoutingReady"][:2] == ("Unknown", "FatalError")
    assert conditions_of(made)["Synced"][0] == "False"


def test_a_later_step_is_not_called_after_a_fatal_one() -> None:
    called = []

    def second(request: Request) -> Result:
        called.append(request)
        return Result()

    passed(plane(endpoint(), ModelEndpoint=(lambda _: Result(fatal="no"), second)))
    assert called == []


def test_a_defect_of_a_step_is_a_fatal_result() -> None:
    def broken(_: Request) -> Result:
        raise KeyError("x")

    made = passed(plane(endpoint(), ModelEndpoint=broken))
    assert conditions_of(made)["Synced"][0] == "False"
    assert "a defect of Modelplane" in conditions_of(made)["Synced"][2]


def test_a_status_field_that_is_left_out_is_removed_and_a_foreign_one_stays() -> None:
    two, one = {"hostname": "h", "port": 1}, {"hostname": "h"}
    control = plane(
        endpoint(),
        ModelEndpoint=by_annotation({"two": Result(status={"routing": two}), "one": Result(status={"routing": one})}),
    )
    passed(control)
    control.patch_status("ModelEndpoint", TEAM, "e", {"routing": {"fqdn": "theirs"}})
    assert passed(control)["status"]["routing"] == {**two, "fqdn": "theirs"}
    assert passed(control, "one")["status"]["routing"] == {**one, "fqdn": "theirs"}


@pytest.mark.parametrize("status", [{"routing": {"port": "text"}}, {"nonsense": 1}], ids=["type", "field"])
def test_a_status_that_the_schema_does_not_allow_is_not_written_at_all(status: dict[str, Any]) -> None:
    result = Result(status=status, desired={"a": Desired.of(config_map("a"))})
    control = plane(endpoint(), ModelEndpoint=lambda _: result)
    done = control.reconcile("ModelEndpoint", TEAM, "e")
    assert done is not None
    assert done.error is not None
    assert "cannot apply composite resource status" in done.error
    assert control.get("ConfigMap", TEAM, "a") is not None
    assert "status" not in existing(control, "ModelEndpoint", TEAM, "e")


def test_a_composite_that_is_being_deleted_is_not_composed() -> None:
    going = endpoint(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.org/hold"])
    control = plane(going, ModelEndpoint=composing(a=config_map("a")))
    made = passed(control)
    assert conditions_of(made)["Ready"] == ("False", "Deleting", "")
    assert conditions_of(made)["Synced"] == ("True", "ReconcileSuccess", "")
    assert control.list("ConfigMap") == []


def test_crossplanes_conditions_name_the_generation_they_are_of() -> None:
    control = plane(endpoint(), ModelEndpoint=composing())
    made = passed(control)
    own = [c for c in made["status"]["conditions"] if c["type"] != "RoutingReady"]
    assert {c["observedGeneration"] for c in own} == {made["metadata"]["generation"]}
