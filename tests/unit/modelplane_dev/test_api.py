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


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_a_server_that_has_too_much_to_do_is_asked_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    asked = _answering(monkeypatch, status, status, 200)
    assert _api().request("PATCH", "/api") == {}
    assert asked == ["PATCH"] * 3


def test_a_dry_run_that_did_not_come_to_an_end_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _answering(monkeypatch, 504, 200)
    assert _api().request("POST", "/api?dryRun=All") == {}
    assert asked == ["POST"] * 2


@pytest.mark.parametrize(("method", "asked"), [("GET", 3), ("DELETE", 3), ("POST", 1)])
def test_a_server_that_does_not_answer_is_asked_again_unless_it_may_have_created_something(
    monkeypatch: pytest.MonkeyPatch, method: str, asked: int
) -> None:
    class Away:
        """A connection to a server that begins to answer at the third request."""

        sock, tried = None, 0

        def request(self, *_: object) -> None:
            Away.tried += 1
            if Away.tried < 3:
                raise TimeoutError("timed out")

        def getresponse(self) -> "Away":
            return self

        status = 200

        def read(self) -> bytes:
            return b"{}"

        def close(self) -> None:
            """Close nothing."""

    monkeypatch.setattr(Api, "_connection", lambda _: Away())
    monkeypatch.setattr(time, "sleep", lambda _: None)
    if asked == 1:
        with pytest.raises(ApiError, match="0: timed out"):
            _api().request(method, "/api")
    else:
        assert _api().request(method, "/api") == {}
    assert Away.tried == asked


@pytest.mark.parametrize(
    ("method", "status"),
    [("PATCH", 403), ("PATCH", 404), ("PATCH", 409), ("PATCH", 422), ("POST", 500), ("POST", 504)],
)
def test_a_refusal_is_raised_at_once_and_what_may_be_created_twice_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, method: str, status: int
) -> None:
    asked = _answering(monkeypatch, status)
    with pytest.raises(ApiError) as caught:
        _api().request(method, "/api")
    assert caught.value.status == status
    assert asked == [method]
