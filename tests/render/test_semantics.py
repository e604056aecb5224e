"""The rules of Crossplane's pipeline that the preview promises: the preview and the real engine keep each alike."""

import pytest

from modelplane_dev.processes.functions import Functions
from render.outcome import PassOutcome
from render.scene import Scene, inference_class, model_cache
from render.steps import config

FIRST = config({"group": "blue"}, name="first")
BLUE = [config(name="a", namespace="x", labels={"group": "blue"}), config(name="b", labels={"group": "blue"})]
RED = config(name="c", labels={"group": "red"})


def both_come_to(scene: Scene) -> PassOutcome:
    preview, real = scene.pass_both()
    assert preview == real
    return real


def both_give_up(scene: Scene) -> str:
    """Return why both give the pass up; but for a fatal result the real engine tells nothing else then."""
    preview, real = scene.pass_both()
    assert preview.error == real.error
    assert preview.conditions["Synced"] == ("False", "ReconcileError", real.error)
    return str(real.error)


def data(outcome: PassOutcome, name: str = "out") -> dict[str, str]:
    found: dict[str, str] = outcome.composed[name]["data"]
    return found


def names(outcome: PassOutcome) -> dict[str, str]:
    return {resource: obj["metadata"]["name"] for resource, obj in outcome.composed.items()}


class TestRequirements:
    def test_a_step_is_called_until_they_repeat_and_finds_by_name_and_by_label(self, served: Functions) -> None:
        scene = Scene(served, ("follow",), model_cache(), [FIRST, *BLUE, RED])
        assert data(both_come_to(scene)) == {"second": "team/b,x/a"}

    def test_what_was_looked_for_and_is_absent_is_resolved_and_empty(self, served: Functions) -> None:
        assert data(both_come_to(Scene(served, ("follow",), model_cache(), [RED]))) == {"first": "absent"}

    @pytest.mark.parametrize("asks", [1, 3, 4, 5])
    def test_up_to_five_rounds_are_served(self, served: Functions, asks: int) -> None:
        assert data(both_come_to(Scene(served, ("count",), model_cache(str(asks))))) == {"calls": str(asks)}

    def test_what_does_not_repeat_within_them_gives_the_pass_up(self, served: Functions) -> None:
        error = both_give_up(Scene(served, ("count",), model_cache("6")))
        assert error.endswith("requirements didn't stabilize after the maximum number of iterations (5)")

    def test_the_context_is_fed_back_between_the_calls_of_a_step_and_goes_on_to_the_next(
        self, served: Functions
    ) -> None:
        scene = Scene(served, ("write-context", "tell-context"), model_cache())
        assert data(both_come_to(scene)) == {"call-0": "made", "call-1": "made"}

    def test_the_schema_of_a_kind_that_does_not_exist_is_empty_and_fails_nothing(self, served: Functions) -> None:
        asked = {"core": "known", "ours": "known", "absent": "unknown"}
        assert data(both_come_to(Scene(served, ("schemas",), model_cache()))) == asked


class TestDesired:
    def test_a_later_step_replaces_what_it_names_and_keeps_the_rest(self, served: Functions) -> None:
        outcome = both_come_to(Scene(served, ("first", "second"), model_cache()))
        assert data(outcome, "one") == {"by": "first"}
        assert data(outcome, "two") == {"by": "second", "saw": "one,two"}
        assert outcome.status["summary"] == {"ready": "1/1"}

    def test_a_status_field_that_is_left_out_later_is_removed(self, served: Functions) -> None:
        scene = Scene(served, ("first", "second"), model_cache())
        assert set(both_come_to(scene).status) == {"summary", "clusters"}
        scene.annotate("leave out")
        preview, _ = scene.pass_both()
        # The real engine's store in memory merges a status where a server removes what its owner left out.
        assert set(preview.status) == {"summary"}

    def test_what_is_no_longer_desired_is_deleted(self, served: Functions) -> None:
        scene = Scene(served, ("compose",), model_cache("a+ b+"))
        before = both_come_to(scene)
        scene.annotate("b+ c+")
        after = both_come_to(scene)
        assert set(after.composed) == {"b", "c"}
        assert after.deleted == {("v1", "ConfigMap", "team", names(before)["a"])}

    def test_an_empty_desired_state_deletes_everything(self, served: Functions) -> None:
        scene = Scene(served, ("compose",), model_cache("a+ b+"))
        before = both_come_to(scene)
        scene.annotate("")
        after = both_come_to(scene)
        assert after.deleted == {("v1", "ConfigMap", "team", name) for name in names(before).values()}


class TestNaming:
    def test_an_unnamed_resource_gets_the_composites_name_and_a_hash_that_stays(self, served: Functions) -> None:
        scene = Scene(served, ("compose",), model_cache("a+"))
        name = names(both_come_to(scene))["a"]
        assert name.startswith("cache-")
        assert names(both_come_to(scene)) == {"a": name}

    def test_a_nested_composites_resources_carry_the_roots_name(self, served: Functions) -> None:
        outcome = both_come_to(
            Scene(served, ("compose",), model_cache("a+", labels={"crossplane.io/composite": "root"}))
        )
        assert names(outcome)["a"].startswith("root-")
        assert outcome.composed["a"]["metadata"]["labels"] == {"crossplane.io/composite": "root"}

    def test_what_exists_keeps_its_name_whatever_the_step_calls_it_now(self, served: Functions) -> None:
        scene = Scene(served, ("rename",), model_cache())
        assert names(both_come_to(scene)) == {"out": "first"}
        outcome = both_come_to(scene)
        assert (names(outcome), data(outcome)) == ({"out": "first"}, {"called": "second"})

    def test_a_name_that_no_server_takes_gives_the_pass_up(self, served: Functions) -> None:
        assert 'invalid name "Not A Name"' in both_give_up(Scene(served, ("misname",), model_cache()))

    def test_a_namespaced_composite_composes_in_its_own_namespace_only(self, served: Functions) -> None:
        preview, real = Scene(served, ("elsewhere",), model_cache()).pass_both()
        assert preview.composed == real.composed
        assert real.composed["out"]["metadata"]["namespace"] == "team"

    def test_a_cluster_scoped_composite_composes_in_any_namespace(self, served: Functions) -> None:
        outcome = both_come_to(Scene(served, ("elsewhere",), inference_class()))
        assert outcome.composed["out"]["metadata"]["namespace"] == "elsewhere"


class TestReadiness:
    @pytest.mark.parametrize(
        ("composed", "ready"),
        [
            ("", ("True", "Available", "")),
            ("a+ b+", ("True", "Available", "")),
            ("a b+", ("False", "Creating", "Unready resources: a")),
            ("c a b", ("False", "Creating", "Unready resources: a, b, and c")),
            ("e a c b d+ f", ("False", "Creating", "Unready resources: a, b, c, and 2 more")),
        ],
    )
    def test_a_composite_is_ready_when_each_of_its_resources_is(
        self, served: Functions, composed: str, ready: tuple[str, str, str]
    ) -> None:
        assert both_come_to(Scene(served, ("compose",), model_cache(composed))).conditions["Ready"] == ready

    def test_a_step_may_say_it_for_the_composite(self, served: Functions) -> None:
        outcome = both_come_to(Scene(served, ("overrule",), model_cache("a b")))
        assert outcome.conditions["Ready"] == ("True", "Available", "")


class TestConditions:
    def test_a_step_cannot_set_crossplanes_own(self, served: Functions) -> None:
        conditions = both_come_to(Scene(served, ("set-conditions",), model_cache())).conditions
        assert conditions["Accepted"] == ("False", "Set", "heard")
        assert conditions["Ready"][1] == "Available"
        assert conditions["Synced"] == ("True", "ReconcileSuccess", "")

    def test_a_fatal_result_changes_nothing_and_leaves_ready_as_it_was(self, served: Functions) -> None:
        scene = Scene(served, ("compose", "set-conditions"), model_cache(""))
        assert set(both_come_to(scene).composed) == {"out"}
        scene.annotate("fatal")
        outcome = both_come_to(scene)
        why = 'cannot compose resources: pipeline step "set-conditions" returned a fatal result: the sky fell'
        assert outcome.error == why
        assert (outcome.composed, outcome.deleted) == ({}, frozenset())
        assert outcome.conditions["Synced"] == ("False", "ReconcileError", why)
        assert outcome.conditions["Ready"] == ("True", "Available", "")
        assert outcome.conditions["Accepted"] == ("False", "Set", "heard")

    def test_a_condition_that_a_fatal_response_leaves_out_becomes_unknown(self, served: Functions) -> None:
        scene = Scene(served, ("set-conditions",), model_cache())
        assert both_come_to(scene).conditions["Extra"][0] == "True"
        scene.annotate("partly")
        assert both_come_to(scene).conditions["Extra"][:2] == ("Unknown", "FatalError")

    def test_a_defect_of_a_step_is_a_fatal_result_that_keeps_all_conditions(self, served: Functions) -> None:
        outcome = both_come_to(Scene(served, ("fail",), model_cache()))
        assert "RuntimeError: a defect" in str(outcome.error)
        assert {"ClustersMatched", "ArtifactReady"} <= set(outcome.conditions)

    def test_a_warning_is_an_event(self, served: Functions) -> None:
        assert both_come_to(Scene(served, ("set-conditions",), model_cache())).warnings == {"a warning"}
