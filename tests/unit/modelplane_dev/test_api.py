"""The client of an API server: which answers it takes for an end."""

import ssl
import time

import pytest

from modelplane_dev.plane.api import Api, ApiError


def _answering(monkeypatch: pytest.MonkeyPatch, *statuses: int) -> list[str]:
    """Let a server answer with these statuses, one after the other; return the methods of the requests so far."""
    asked: list[str] = []
    left = iter(statuses)

    def answer(_: Api, method: str, *__: object) -> tuple[int, str]:
        asked.append(method)
        return next(left), "{}"

    monkeypatch.setattr(Api, "_answer", answer)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return asked


def _api() -> Api:
    return Api("https://127.0.0.1:1", "token", ssl.create_default_context())


@pytest.mark.parametrize("status", [429, 504])
def test_a_server_that_has_too_much_to_do_is_asked_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    asked = _answering(monkeypatch, status, status, 200)
    assert _api().request("PATCH", "/api") == {}
    assert asked == ["PATCH"] * 3


def test_a_dry_run_that_did_not_come_to_an_end_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _answering(monkeypatch, 504, 200)
    assert _api().request("POST", "/api?dryRun=All") == {}
    assert asked == ["POST"] * 2


@pytest.mark.parametrize(
    ("method", "status"),
    [("PATCH", 403), ("PATCH", 404), ("PATCH", 409), ("PATCH", 422), ("PATCH", 500), ("POST", 504)],
)
def test_a_refusal_is_raised_at_once_and_what_may_be_created_twice_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, method: str, status: int
) -> None:
    asked = _answering(monkeypatch, status)
    with pytest.raises(ApiError) as caught:
        _api().request(method, "/api")
    assert caught.value.status == status
    assert asked == [method]
