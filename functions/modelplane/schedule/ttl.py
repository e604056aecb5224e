"""How soon a deployment is looked at again (docs/scheduling.md, "Inputs").

Crossplane does not watch what a function requires: a change elsewhere in the fleet is seen once the response's TTL has
passed. While something is awaited the next pass comes soon, and the less often the longer nothing changes: a fleet
without room for a hundred deployments would else be read as a whole ten times a second.
"""

from collections.abc import Hashable
from datetime import timedelta
from typing import Final

from modelplane.lru import Lru
from modelplane.model.deployment import Deployment
from modelplane.model.placement import Schedule
from modelplane.step import AWAITING, SETTLED, Request

#: The digest of the inputs of each deployment's last pass that was not settled, and the TTL of its response; two
#: thousand deployments. What was forgotten begins again with the shortest TTL, as it does in a new process.
_LAST: Final = Lru[tuple[int | None, timedelta]](1024 * 1024)
_NONE: Final = (None, AWAITING)


def _digest(request: Request) -> int:
    """Return a digest of all that the pass looked at: whatever order lists come in, equal for equal versions."""
    own = tuple(obj.key for obj in request.observed.values() if obj.kind == "ModelReplica")
    required = tuple((name, frozenset(obj.key for obj in found)) for name, found in request.required.items())
    return hash((request.composite.key, own, required))


def response_ttl(request: Request, deployment: Deployment, schedule: Schedule) -> timedelta:
    """Return the TTL of a pass that decided: 60 s when settled, else 10 s, doubled up to 60 s while nothing changed.

    Equal inputs give equal decisions and refusals, so that the inputs alone are compared. Nothing is decided by it, and
    no clock is read.
    """
    if schedule.settled:
        return SETTLED
    identity: Hashable = deployment.uid or (deployment.namespace, deployment.name)
    inputs = _digest(request)
    before, last = _LAST.get(identity, lambda: (_NONE, 0))
    ttl = min(2 * last, SETTLED) if before == inputs else AWAITING
    _LAST.put(identity, (inputs, ttl), 0)
    return ttl
