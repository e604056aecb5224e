"""Who asked for what, read from an audit log."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from modelplane_dev.plane.requests import requests, table


def event(second: int, verb: str, **fields: Any) -> dict[str, Any]:
    return {
        "stageTimestamp": f"2026-01-01T00:00:{second:02}.250000Z",
        "verb": verb,
        "user": {"username": "system:serviceaccount:crossplane-system:crossplane"},
        "requestURI": "/metrics?x=1",
        "responseStatus": {"code": 200},
        **fields,
    }


STATUS = {"objectRef": {"resource": "modelreplicas", "subresource": "status", "namespace": "ml", "name": "a"}}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    events = [
        event(1, "get"),
        event(2, "patch", **STATUS),
        event(3, "patch", **STATUS),
        event(4, "update", **STATUS, responseStatus={"code": 409}),
        event(9, "get"),
    ]
    path = tmp_path / "audit.log"
    path.write_text("".join(json.dumps(each) + "\n" for each in events) + '{"stage')
    return path


def at(second: int) -> datetime:
    return datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)


def test_requests_are_counted_by_account_verb_and_resource_within_a_time_and_unfinished_lines_are_not(
    log: Path,
) -> None:
    assert table(requests(log, at(1), at(5)), rows=9, minutes=0.5) == [
        "      4.0 crossplane patch modelreplicas/status",
        "      2.0 crossplane get /metrics",
        "      2.0 crossplane update modelreplicas/status 409",
    ]
    assert requests(log, at(0), at(20)).total() == 5
    assert {asked.namespace for asked in requests(log, at(2), at(5))} == {"ml"}
