"""When `modelplane observe` writes, and what it leaves at its end."""

import json
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane.live import LiveError
from modelplane.observe import Entry, publish

ENTRY = Entry("modelplane-system", "gateway-ejections", "ejections")


class Written:
    """An API server that keeps what is written, and fails as often as it is to."""

    def __init__(self, failures: int = 0) -> None:
        self.values: list[Any] = []
        self.failures = failures

    def merge(self, path: str, patch: Mapping[str, Any]) -> None:
        """Keep the value."""
        assert path == "/api/v1/namespaces/modelplane-system/configmaps/gateway-ejections"
        if self.failures:
            self.failures -= 1
            raise LiveError("unavailable")
        text = patch["data"]["ejections"]
        self.values.append(None if text is None else json.loads(text))


def published(readings: Iterable[Any], failures: int = 0) -> list[Any]:
    """Return what is written while these values are read; an exception is raised."""
    written: Any = Written(failures)
    ended, left = threading.Event(), list(readings)

    def read() -> Any:
        found = left.pop(0)
        if not left:
            ended.set()
        if isinstance(found, Exception):
            raise found
        return found

    publish(written, ENTRY, read, every=0.001, ended=ended)
    found: list[Any] = written.values
    return found


def test_only_a_change_is_written_and_at_the_end_nothing_is_known() -> None:
    assert published([{}, {}, {"ml/a": 1}, {"ml/a": 1}, {}]) == [{}, {"ml/a": 1}, {}, None]


def test_what_could_not_be_written_is_written_with_the_next_reading() -> None:
    assert published([{"ml/a": 1}, {"ml/a": 1}, {"ml/a": 1}], failures=1) == [{"ml/a": 1}, None]


def test_a_failed_reading_ends_nothing() -> None:
    assert published([{"ml/a": 1}, LiveError("busy"), {"ml/a": 2}]) == [{"ml/a": 1}, {"ml/a": 2}, None]


def test_what_no_envoy_says_is_withdrawn() -> None:
    assert published([{"ml/a": 1}, None]) == [{"ml/a": 1}, None, None]
