"""What the replicas of a team want of their namespace on a cluster while the platform edits spec.stack.isolation."""

from given import manifests as fleets
from modelplane.model.names import LABEL_ISOLATED
from modelplane.preview import ControlPlane


def wanted(control: ControlPlane, isolation: str) -> tuple[set[str], set[str]]:
    """Return the marks of the namespace, and whether its policies are open, that replicas want once it is edited."""
    control.apply(fleets.cluster("east", nodes=4) | {"spec": {**SPEC, "stack": {"isolation": isolation}}})
    assert control.settle()
    put = [obj["spec"]["forProvider"]["manifest"] for obj in control.list("Object")]
    teams = [each for each in put if each["kind"] == "Namespace" and each["metadata"]["name"] == "mp-team"]
    marks = {each["metadata"]["labels"].get(LABEL_ISOLATED, "") for each in teams}
    policies = [each["spec"]["ingress"] for each in put if each["kind"] == "NetworkPolicy"]
    return marks, {"open" if each == [{}] else "closed" for each in policies}


SPEC = fleets.cluster("east", nodes=4)["spec"]


def test_replicas_settle_on_one_policy_whatever_the_platform_asks_and_in_which_order() -> None:
    fleet = [fleets.hardware(), fleets.cluster("east", nodes=4), fleets.deployment(replicas=3)]
    made = ControlPlane(fleet)
    assert made.settle()
    for isolation, does in (("Enforced", "closed"), ("Open", "open"), ("NewNamespaces", "closed")):
        assert wanted(made, isolation) == ({"creation"}, {does})
    before = ControlPlane([fleets.hardware(), {**fleet[1], "spec": {**SPEC, "stack": {"isolation": "Open"}}}, fleet[2]])
    assert before.settle()
    assert wanted(before, "NewNamespaces") == ({""}, set())
    for isolation, does in (("Enforced", "closed"), ("NewNamespaces", "open"), ("Open", "open")):
        assert wanted(before, isolation) == ({"enforced"}, {does})
