"""The snapshot of a fleet follows its watches, and keeps what it had when one breaks."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from modelplane.live import LiveError, Resource, ServerError
from modelplane.model.names import API_VERSION
from modelplane.observe import snapshot
from modelplane.observe.snapshot import Snapshot

REPLICAS = Resource(API_VERSION, "ModelReplica", "modelreplicas", namespaced=True)


def _replica(name: str, version: str = "1", **more: Any) -> dict[str, Any]:
    metadata = {"namespace": "ml", "name": name, "resourceVersion": version}
    return {"apiVersion": API_VERSION, "kind": "ModelReplica", "metadata": metadata, **more}


class Scripted:
    """A server whose lists and events a test gives one by one; an exception among them is raised."""

    def __init__(self) -> None:
        self.lists: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def get(self, path: str) -> Any:
        """Return the next list."""
        assert path.startswith("/apis/modelplane.ai/v1alpha1/modelreplicas?")
        found = self.lists.get()
        if isinstance(found, Exception):
            raise found
        return {"metadata": {"resourceVersion": "7"}, "items": found}

    def watch(self, path: str) -> Iterator[Any]:
        """Yield events until one is an exception."""
        assert "watch=true" in path
        while True:
            event = self.events.get()
            if isinstance(event, Exception):
                raise event
            yield event


def _event(kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": obj}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> tuple[Scripted, Snapshot, Callable[[set[str]], None]]:
    """Return a server, the snapshot of its replicas, and what waits until it has these names."""
    monkeypatch.setattr(snapshot, "_AGAIN", 0.01)
    server, changed = Scripted(), threading.Condition()

    def seen(_before: Any, _now: Any) -> None:
        with changed:
            changed.notify_all()

    kept = Snapshot(server, (REPLICAS,), seen)

    def wait(names: set[str]) -> None:
        with changed:
            assert changed.wait_for(lambda: {each["metadata"]["name"] for each in kept.read()} == names, timeout=30)

    kept.start()
    return server, kept, wait


def test_it_holds_what_was_listed_and_what_has_changed_since(given: Any) -> None:
    server, _, wait = given
    server.lists.put([_replica("a"), _replica("b")])
    wait({"a", "b"})
    server.events.put(_event("ADDED", _replica("c", "8")))
    wait({"a", "b", "c"})
    server.events.put(_event("DELETED", _replica("a", "9")))
    wait({"b", "c"})


@pytest.mark.parametrize("broken", [LiveError("the connection broke"), ServerError(410, "too old")])
def test_a_watch_that_breaks_keeps_what_was_there_and_the_next_list_is_all_there_is(
    given: Any, broken: LiveError
) -> None:
    server, kept, wait = given
    server.lists.put([_replica("a"), _replica("b")])
    wait({"a", "b"})
    server.events.put(broken)
    server.lists.put(LiveError("not reached"))
    server.lists.put(ServerError(403, "forbidden"))
    assert {each["metadata"]["name"] for each in kept.read()} == {"a", "b"}
    server.lists.put([_replica("b"), _replica("d")])
    wait({"b", "d"})
    assert kept.health["ModelReplica"].restarts == 3


def test_a_bookmark_says_that_a_watch_is_alive(given: Any) -> None:
    server, kept, wait = given
    server.lists.put([_replica("a")])
    wait({"a"})
    server.events.put(_event("BOOKMARK", {"metadata": {"resourceVersion": "8"}}))
    server.events.put(_event("ADDED", _replica("b", "9")))
    wait({"a", "b"})
    assert kept.health["ModelReplica"].heard > 0
