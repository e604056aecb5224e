"""Which account requested what of an API server, from its audit log."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple


class RequestKind(NamedTuple):
    """A kind of request: account, verb, resource with subresource, namespace, and status of the response."""

    user: str
    verb: str
    resource: str
    namespace: str
    status: int

    def __str__(self) -> str:
        """Return account, verb and resource, and the status if the request failed."""
        failed = [str(self.status)] if self.status >= 400 else []
        return " ".join([self.user, self.verb, self.resource, *failed])


def now() -> datetime:
    """Return the time, as an audit log has it."""
    return datetime.now(UTC)


def requests(log: Path, since: datetime, until: datetime, about: str = "") -> Counter[RequestKind]:
    """Return how many requests of each kind were answered within a time, of those whose URIs have `about`."""
    return Counter(kind for when, kind in _read(log, about) if since <= when <= until)


def table(found: Counter[RequestKind], *, rows: int, minutes: float) -> list[str]:
    """Return a line for each of the most frequent kinds of request, with their number per minute."""
    summed: Counter[str] = Counter()
    for kind, count in found.items():
        summed[str(kind)] += count
    return [f"  {count / minutes:7.1f} {what}" for what, count in summed.most_common(rows)]


def _read(log: Path, about: str) -> Iterator[tuple[datetime, RequestKind]]:
    with log.open(errors="replace") as lines:
        for line in lines:
            # The last line may be incomplete.
            if line.endswith("\n"):
                event = json.loads(line)
                if about not in event["requestURI"]:
                    continue
                yield datetime.fromisoformat(event["stageTimestamp"]), _kind_of(event)


def _kind_of(event: dict[str, Any]) -> RequestKind:
    subject = event.get("objectRef", {})
    parts = (subject.get("resource"), subject.get("subresource"))
    resource = "/".join(filter(None, parts)) or event["requestURI"].partition("?")[0]
    user = event["user"]["username"].rpartition(":")[2]
    code = event.get("responseStatus", {}).get("code", 0)
    return RequestKind(user, event["verb"], resource, subject.get("namespace", ""), code)
