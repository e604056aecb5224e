"""How soon a deployment is reconciled again (docs/scheduling.md, "Inputs").

Crossplane does not watch the objects that a function requires: a change elsewhere in the fleet is seen once the
response's TTL has passed. While something is awaited the TTL is short, and grows as long as nothing changes: otherwise
a hundred deployments without room would read the whole fleet ten times a second.
"""

from collections.abc import Collection, Hashable, Mapping
from datetime import timedelta
from typing import Final

from modelplane.composing import requirements as require
from modelplane.lru import Lru
from modelplane.model.deployment import Deployment
from modelplane.model.placement import Schedule
from modelplane.schedule.rounds import read_rounds
from modelplane.step import AWAITING, SETTLED, Request

#: By deployment: the hash of the inputs of its last pass that was not settled, and the TTL of the response; enough for
#: two thousand deployments. A deployment without an entry starts with the shortest TTL, as in a new process.
_LAST: Final = Lru[tuple[int | None, timedelta]](1024 * 1024)
_NONE: Final = (None, AWAITING)
_NO_CLUSTERS: Final[Mapping[str, int]] = {}


def response_ttl(
    request: Request, deployment: Deployment, schedule: Schedule, full: Mapping[str, int] = _NO_CLUSTERS
) -> timedelta:
    """Return the TTL of a pass: 60 s when settled, else 10 s, doubled up to 60 s while no input changes.

    Equal inputs give equal decisions and refusals, so only the inputs are compared; a pass that has postponed a search
    is followed by the next one after 10 s. No decision depends on the TTL, and no clock is read. `full` are the
    clusters that are read in turn, a few in each pass, with a hash of what was last read of each; all of them count as
    inputs, whichever this pass has read.
    """
    if schedule.settled:
        return SETTLED
    if schedule.postponed:
        return AWAITING
    identity: Hashable = deployment.uid or (deployment.namespace, deployment.name)
    in_turn = {one(name).name for name in full for one in (require.cluster, require.residents)}
    inputs = hash((input_versions(request, in_turn), frozenset(full.items())))
    before, last = _LAST.get(identity, lambda: (_NONE, 0))
    ttl = min(2 * last, SETTLED) if before == inputs else AWAITING
    _LAST.put(identity, (inputs, ttl), 0)
    return ttl


def input_versions(request: Request, without: Collection[str] = ()) -> Hashable:
    """Return the versions of all inputs of a pass: equal ones give equal decisions and refusals.

    The order of lists does not matter. Of the composed resources, all names count, and the versions of the
    ModelReplicas; of the context, only how far the pass is. Requirements with the names in `without` are left out.
    """
    own = tuple(obj.key for obj in request.observed.values() if obj.kind == "ModelReplica")
    looked_into = ((name, found) for name, found in request.required.items() if name not in without)
    required = tuple((name, frozenset(obj.key for obj in found)) for name, found in looked_into)
    return request.version, request.composite.key, tuple(request.observed), own, required, read_rounds(request)
