"""The limits of a ModelService, and the policy that carries them."""

import re

from unit.compose_endpoint.services import CANARY, READY, rule, settled


def test_only_a_service_with_limits_of_its_own_has_a_policy() -> None:
    service = settled(endpoints=[READY, CANARY], spec={"timeouts": {"request": "0s", "idle": "1h"}})
    assert "traffic-policy" not in service.store
    service.spec = {"affinity": {"header": "x-session"}}
    service.settle()
    assert "traffic-policy" in service.store
    service.spec = {}
    service.settle()
    assert "traffic-policy" not in service.store


def test_what_the_only_endpoint_refuses_is_not_tried_there_as_at_another() -> None:
    service = settled(endpoints=[READY])
    assert service.store["traffic-policy"]["spec"]["retry"]["numRetries"] == 1
    service.endpoints = [READY, CANARY]
    service.settle()
    assert "traffic-policy" not in service.store


def test_a_service_s_limits_are_those_of_its_policy() -> None:
    spec = {
        "timeouts": {"request": "30s", "idle": "5m"},
        "affinity": {"header": "x-session"},
        "rateLimit": {"requests": 9, "per": "Minute"},
    }
    service = settled(endpoints=[READY], spec=spec)
    policy = service.store["traffic-policy"]["spec"]
    assert rule(service)["timeouts"] == {"request": "0s"}
    assert policy["mergeType"] == "StrategicMerge"
    assert policy["timeout"] == {"http": {"streamIdleTimeout": "5m", "maxStreamDuration": "30s"}}
    assert policy["loadBalancer"]["consistentHash"]["headers"] == [{"name": "x-session"}]
    assert policy["rateLimit"]["local"]["rules"] == [{"limit": {"requests": 9, "unit": "Minute"}}]


def test_callers_are_counted_in_groups_that_each_has_room_for() -> None:
    names = [f"c.{number}" for number in range(64)]
    keys = [{"name": name, "secretRef": {"name": "s", "key": name}} for name in names]
    service = settled(
        endpoints=[READY], spec={"keys": keys, "rateLimit": {"requests": 9, "per": "Hour", "perCaller": True}}
    )
    rules = service.store["traffic-policy"]["spec"]["rateLimit"]["local"]["rules"]
    assert all(rule["limit"] == {"requests": 9, "unit": "Hour"} for rule in rules)
    counted = []
    for each_rule in rules:
        ((distinct, group),) = (each["headers"] for each in each_rule["clientSelectors"])
        assert distinct == {"name": "x-modelplane-caller", "type": "Distinct"}
        assert (group["name"], group["type"]) == ("x-modelplane-caller", "RegularExpression")
        counted.append([name for name in names if re.fullmatch(group["value"], name)])
    assert sorted(name for group in counted for name in group) == sorted(names)
    assert max(map(len, counted)) <= 20
