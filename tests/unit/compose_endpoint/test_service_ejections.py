"""What a ModelService says of the endpoints that the gateway has ejected."""

import copy
import json

import pytest

from modelplane.model.names import service_object
from unit.compose_endpoint.services import CANARY, READY, conditions, settled

ROUTE = service_object("chat", "ml", "route")


def published(*, namespace: str = "ml", route: str = ROUTE, count: object = 1) -> str:
    return json.dumps({f"{namespace}/{route}": count, "other/route": 7})


@pytest.mark.parametrize(
    ("text", "ejected"),
    [
        (published(), 1),
        (published(count=2), 2),
        (published(namespace="other"), 0),
        (published(route="else"), 0),
        ("{}", 0),
        (None, None),
        ("", None),
        ("no JSON", None),
        ("[1]", None),
        (published(count=-3), 0),
        (published(count="many"), 0),
    ],
)
def test_a_service_counts_what_the_gateway_has_ejected_of_it_where_that_is_known(
    text: str | None, ejected: int | None
) -> None:
    service = settled(endpoints=[READY, CANARY], ejections=text)
    assert (service.reconcile().status or {})["endpoints"].get("ejected") == ejected


def test_a_service_whose_route_an_earlier_version_named_counts_what_is_ejected_of_that_route() -> None:
    service = settled(endpoints=[READY, CANARY])
    service.store["route"]["metadata"]["name"] = "chat-1a2b3c"
    service.ejections = json.dumps({"ml/chat-1a2b3c": 2})
    assert (service.reconcile().status or {})["endpoints"]["ejected"] == 2


def test_endpoints_resolved_says_how_many_are_ejected_and_why() -> None:
    service = settled(endpoints=[READY, CANARY], ejections=published())
    status, _, message = conditions(service)["EndpointsResolved"]
    assert (status, "The gateway has ejected 1 of 2 for now: " in message) == ("True", True)
    service.ejections = published(count=0)
    assert "ejected" not in conditions(service)["EndpointsResolved"][2]


def test_ejections_change_no_object_of_a_service() -> None:
    service = settled(endpoints=[READY, CANARY])
    without = copy.deepcopy(service.store)
    service.ejections = published(count=2)
    service.settle()
    assert service.store == without
