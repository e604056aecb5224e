"""A pass of a service may end between any two of its writes: no request fails there, and nobody is let in."""

import pytest

from gateways.live import LiveFleet
from gateways.passes import LivePasses

pytestmark = pytest.mark.usefixtures("engines")


def test_between_any_two_writes_of_a_service_no_request_fails(live: LiveFleet) -> None:
    passes = LivePasses(live, "changes")
    with live.watched(passes.url) as seen:
        passes.go()
        passes.wait_answer(200)
        passes.change("every endpoint")
        for change, status in (("keys", 401), ("no keys", 200)):
            passes.change(change)
            passes.wait_answer(status)
        for change in ("another entry", "no endpoint", "one endpoint"):
            passes.change(change)
    before, *statuses = (status for status, _ in seen)
    assert before == 404, seen
    assert 200 in statuses, seen
    assert set(statuses) <= {200, 401, 503}, seen


def test_between_any_two_writes_a_service_with_keys_lets_nobody_in(live: LiveFleet) -> None:
    passes = LivePasses(live, "closed", requires_keys=True)
    with live.watched(passes.url) as seen:
        passes.go()
        passes.wait_answer(401)
        assert live.ask(f"{passes.url}/v1/models").code == "invalid_api_key"
        for change in ("every endpoint", "another entry", "no endpoint"):
            passes.change(change)
    assert {status for status, _ in seen} == {404, 401}, seen
