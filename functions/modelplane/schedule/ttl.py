"""How soon a deployment is looked at again (docs/scheduling.md, "Inputs").

Crossplane does not watch what a function requires: a change elsewhere in the fleet is seen once the response's TTL has
passed. While something is awaited the next pass comes soon, and the less often the longer nothing changes: a fleet
without room for a hundred deployments would else be read as a whole ten times a second.
"""

from collections.abc import Hashable, Mapping
from datetime import timedelta
from typing import Final

from modelplane.composing import requirements as require
from modelplane.lru import Lru
from modelplane.model.deployment import Deployment
from modelplane.model.placement import Schedule
from modelplane.schedule.looked_at import looked_at
from modelplane.step import AWAITING, SETTLED, Request

#: The hash of the inputs of each deployment's last pass that was not settled, and the TTL of its response; two
#: thousand deployments. What was forgotten begins again with the shortest TTL, as it does in a new process.
_LAST: Final = Lru[tuple[int | None, timedelta]](1024 * 1024)
_NONE: Final = (None, AWAITING)
_NO_CLUSTERS: Final[Mapping[str, int]] = {}


def response_ttl(
    request: Request, deployment: Deployment, schedule: Schedule, full: Mapping[str, int] = _NO_CLUSTERS
) -> timedelta:
    """Return the TTL of a pass that decided: 60 s when settled, else 10 s, doubled up to 60 s while nothing changed.

    Equal inputs give equal decisions and refusals, so that the inputs alone are compared. Nothing is decided by it, and
    no clock is read. `full` are the clusters that are read in turn, a few in each pass, with what was read of each the
    last time: of these all count that were read so far, whichever this pass has read.
    """
    if schedule.settled:
        return SETTLED
    identity: Hashable = deployment.uid or (deployment.namespace, deployment.name)
    in_turn = {one(name).name for name in full for one in (require.cluster, require.residents)}
    inputs = hash((looked_at(request, in_turn), frozenset(full.items())))
    before, last = _LAST.get(identity, lambda: (_NONE, 0))
    ttl = min(2 * last, SETTLED) if before == inputs else AWAITING
    _LAST.put(identity, (inputs, ttl), 0)
    return ttl
