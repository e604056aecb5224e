"""Who may call a service: its keys, and whether the route lets requests through while they are made and changed."""

from typing import Any

import pytest

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint import service_keys
from modelplane.model.routing import Endpoint
from modelplane.step import Object, Request
from modelplane.step.secrets import MOST_KEYS
from property.routes import address
from property.services import Service, bare
from unit.compose_endpoint.services import accept, conditions, rule, settled

READY = Endpoint("e-1", {"app": "a"}, address("e-1"), ready=True)


def key(name: str, part: str | None = None) -> dict[str, Any]:
    return {"name": name, "secretRef": {"name": "keys", "key": part or name}}


def service(*names: str, **fields: Any) -> Service:
    """Return a service whose callers have keys, each a value of its own."""
    given = {"spec": {"keys": [key(name) for name in names]}, "secrets": {"keys": {n: n.encode() for n in names}}}
    return Service(**{"endpoints": [READY], **given, **fields})


def lets_through(found: Service) -> bool:
    return found.route is not None and "backendRefs" in rule(found)


def test_a_route_is_closed_until_the_gateway_has_accepted_the_policy_that_checks_keys() -> None:
    found = service("ann")
    first = found.desired()
    assert "caller-keys" in first
    assert not {"security-policy", "route"} & first.keys()
    found.store = first
    found.store = found.desired()
    assert "security-policy" in found.store
    assert not lets_through(found)
    found.store = found.desired()
    assert not lets_through(found)
    assert conditions(found)["RoutingReady"][1] == "Configuring"
    found.accept_policies()
    found.store = found.desired()
    assert lets_through(found)


def test_the_policy_of_an_older_generation_does_not_open_a_route() -> None:
    found = service("ann")
    found.store = found.desired()
    found.store = found.desired()
    found.accept_policies()
    found.store["security-policy"]["metadata"]["generation"] = 2
    assert not lets_through(Service(**{**vars(found), "store": found.desired()}))
    found.store["security-policy"]["status"]["ancestors"][0]["conditions"][0]["observedGeneration"] = 2
    found.store = found.desired()
    assert lets_through(found)


def test_keys_are_checked_in_both_headers_taken_away_and_named_to_what_follows() -> None:
    found = service("ann", "ben")
    found.settle()
    spec = found.store["security-policy"]["spec"]["apiKeyAuth"]
    assert spec["extractFrom"] == [{"headers": ["Authorization", "x-api-key"]}]
    assert (spec["sanitize"], spec["forwardClientIDHeader"]) == (True, "x-modelplane-caller")
    assert [each["name"] for each in spec["credentialRefs"]] == [found.store["caller-keys"]["metadata"]["name"]]
    assert found.store["caller-keys"]["data"].keys() == {"ann", "ben"}
    assert found.status["keys"] == "2"


def test_an_open_service_stays_open_until_its_first_keys_are_checked() -> None:
    found = settled(endpoints=[READY])
    assert found.status["keys"] == "open"
    keyed = service("ann")
    found.spec, found.secrets = keyed.spec, keyed.secrets
    for _ in range(3):
        found.store = found.desired()
        assert lets_through(found)
    assert conditions(found)["RoutingReady"][1] == "Configuring"
    found.settle()
    assert lets_through(found)
    assert found.status["keys"] == "1"


def test_a_route_whose_policy_is_lost_is_closed_at_once() -> None:
    found = service("ann")
    found.settle()
    del found.store["security-policy"]
    found.store = found.desired()
    assert not lets_through(found)
    assert "security-policy" in found.store


def test_a_route_whose_policy_is_refused_is_closed_and_says_why() -> None:
    found = service("ann")
    found.settle()
    accept(found, "HTTPRoute")
    condition = {"type": "Accepted", "status": "False", "message": "because"}
    gateway = {"name": "public-gateway", "namespace": "modelplane-system"}
    found.store["security-policy"]["status"] = {"ancestors": [{"ancestorRef": gateway, "conditions": [condition]}]}
    status, reason, message = conditions(found)["RoutingReady"]
    assert (status, reason) == ("False", "PolicyRejected")
    assert "SecurityPolicy" in message
    found.store = found.desired()
    assert not lets_through(found)


#: What may be wrong with a key; the reason and words of RoutingReady, and which keys remain.
WRONG: dict[str, tuple[dict[str, bytes], str, str, set[str]]] = {
    "no value": ({"ann": b"a"}, "KeyMissing", "spec.keys[1] ben: Secret ml/keys has no value under key ben", {"ann"}),
    "no Secret": (
        {},
        "KeyMissing",
        "spec.keys[0] ann: Secret ml/keys does not exist; it is needed with key ann. Create it",
        set(),
    ),
    "a line break": ({"ann": b"a", "ben": b"b\n"}, "KeyInvalid", "without spaces and line breaks", {"ann"}),
    "nothing": ({"ann": b"", "ben": b"b"}, "KeyInvalid", "spec.keys[0] ann", {"ben"}),
    "an equal key": ({"ann": b"a", "ben": b"a"}, "KeyInvalid", "the key equals that of ann", {"ann"}),
}


def test_a_secret_of_which_nothing_is_read_is_said_to_have_too_many_keys() -> None:
    found = service("ann", secrets={"keys": {}})
    found.settle()
    accept(found, "HTTPRoute")
    _, _, message = conditions(found)["RoutingReady"]
    assert (
        f"ml/keys has no readable value under key ann (Secrets with more than {MOST_KEYS} keys are not read)" in message
    )


@pytest.mark.parametrize(("values", "reason", "words", "usable"), WRONG.values(), ids=WRONG)
def test_a_key_that_cannot_be_used_is_named_and_the_others_stay(
    values: dict[str, bytes], reason: str, words: str, usable: set[str]
) -> None:
    found = service("ann", "ben", secrets={"keys": values} if values else {})
    found.settle()
    accept(found, "HTTPRoute")
    status, shown, message = conditions(found)["RoutingReady"]
    assert (status, shown) == ("False", reason)
    assert words in message
    assert ("Every request is answered with 401" in message) == (not usable)
    assert lets_through(found) == bool(usable)
    assert (found.store["caller-keys"]["data"].keys() if usable else set()) == usable


def test_where_the_gateway_requires_keys_a_service_without_answers_401() -> None:
    found = settled(endpoints=[READY], requires_keys=True)
    (answer,) = rule(found)["filters"]
    assert answer["extensionRef"]["name"] == found.store["answer-401"]["metadata"]["name"]
    assert "security-policy" not in found.store
    accept(found, "HTTPRoute")
    status, reason, message = conditions(found)["RoutingReady"]
    assert (status, reason) == ("False", "KeysRequired")
    assert "InferenceGateway default has spec.requireKeys" in message
    assert found.status["keys"] == "0"


def test_a_policy_stays_while_the_route_that_is_to_be_closed_lets_requests_through() -> None:
    found = service("ann")
    found.settle()
    was = {name: bare(found.store[name]) for name in ("security-policy", "caller-keys")}
    found.secrets = {}
    found.store = found.desired()
    assert {name: found.store.get(name) for name in was} == was
    assert not lets_through(found)
    found.settle()
    assert not was.keys() & found.store.keys()


def test_a_service_whose_keys_are_removed_opens_and_its_secret_goes_after_its_policy() -> None:
    found = service("ann")
    found.settle()
    found.spec = {}
    found.store = found.desired()
    assert lets_through(found)
    assert "security-policy" not in found.store
    assert "caller-keys" in found.store
    found.settle()
    assert "caller-keys" not in found.store


def test_an_edit_that_removes_all_keys_is_said_until_there_are_keys_again() -> None:
    found = settled(endpoints=[READY])
    accept(found, "HTTPRoute")
    for published, expected, said in (
        ("2", "open, keys removed", True),
        ("open, keys removed", "open, keys removed", True),
        ("open", "open", False),
        ("", "open", False),
        ("0", "open", False),
    ):
        found.status = {"keys": published}
        status = found.reconcile().status
        assert status
        assert status["keys"] == expected
        state, _, message = conditions(found)["RoutingReady"]
        assert (state, "an edit has removed all keys of spec.keys" in message) == ("True", said), published
    unusable = {"type": "RoutingReady", "status": "False", "reason": "KeyMissing"}
    required = unusable | {"reason": "KeysRequired"}
    for before, expected in ((unusable, "open, keys removed"), (required, "open")):
        found.status = {"keys": "0", "conditions": [before]}
        status = found.reconcile().status
        assert status
        assert status["keys"] == expected
    found.status = {"keys": "open, keys removed"}
    found.spec, found.secrets = {"keys": [key("ann")]}, {"keys": {"ann": b"1"}}
    assert lets_through(found), "until the gateway checks its keys, as any open service"
    found.settle()
    status = found.reconcile().status
    assert status
    assert status["keys"] == "1"


def test_kubernetes_deletes_all_that_a_service_has_composed_after_its_route() -> None:
    found = service("ann", spec={"keys": [key("ann")], "timeouts": {"idle": "5m"}})
    found.settle()
    assert found.route
    found.route["metadata"]["uid"] = "u-1"
    owner = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "uid": "u-1"}
    made = found.desired()
    assert "ownerReferences" not in made.pop("route")["metadata"]
    assert {"security-policy", "caller-keys", "traffic-policy", "backend-entry-all-0", "authority"} <= made.keys()
    for body in made.values():
        (shown,) = body["metadata"]["ownerReferences"]
        assert shown == owner | {"name": found.route["metadata"]["name"]}


def test_pages_of_other_origins_may_call_with_and_without_keys() -> None:
    cors = {"cors": {"allowOrigins": ["https://chat.example.com"]}}
    found = settled(endpoints=[READY], spec=cors)
    spec = found.store["security-policy"]["spec"]
    assert spec["cors"]["allowOrigins"] == ["https://chat.example.com"]
    assert "Authorization" in spec["cors"]["allowHeaders"]
    assert spec["cors"]["exposeHeaders"] == ["Retry-After", "x-request-id"]
    assert spec["cors"]["allowMethods"] == ["GET", "POST", "DELETE", "OPTIONS"]
    assert "apiKeyAuth" not in spec
    assert found.status["keys"] == "open"
    keyed = service("ann")
    found.spec, found.secrets = cors | keyed.spec, keyed.secrets
    found.settle()
    assert {"apiKeyAuth", "cors"} <= found.store["security-policy"]["spec"].keys()
    assert lets_through(found)


class Sized(Object):
    """A Secret as a server receives it, of so many bytes."""

    @property
    def size(self) -> int:
        return int(self.body["bytes"])


@pytest.mark.parametrize(
    ("sizes", "seconds"), [((0, 0), 10), ((2_000, 1024 * 1024 - 2_000), 10), ((2_000, 1024 * 1024), 60)]
)
def test_a_service_whose_secrets_are_large_is_reconciled_once_a_minute(sizes: tuple[int, ...], seconds: int) -> None:
    keys = [{"name": f"k{at}", "secretRef": {"name": f"s{at}", "key": "k"}} for at in range(len(sizes))]
    spec = ModelServiceSpec.model_validate({"endpoints": [{"selector": {"matchLabels": {"a": "b"}}}], "keys": keys})
    composite = Object({"metadata": {"name": "chat", "namespace": "ml"}}, "chat")
    names = [each.name for each in service_keys.requirements(spec, "ml")]
    found = {name: (Sized({"bytes": size}, name),) for name, size in zip(names, sizes, strict=True)}
    assert service_keys.ttl(Request(composite, required=found), spec).total_seconds() == seconds
