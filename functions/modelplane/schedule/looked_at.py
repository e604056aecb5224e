"""The versions of all that a scheduling pass looks at: equal ones give equal decisions and refusals."""

from collections.abc import Collection, Hashable

from modelplane.schedule.rounds import read_rounds
from modelplane.step import Request


def looked_at(request: Request, apart_from: Collection[str] = ()) -> Hashable:
    """Return what the decision of a pass follows from: whatever order lists come in, equal for equal versions.

    Of what the deployment has composed only the ModelReplicas are looked at, and of all of it the names; of the context
    only how far the pass is. Requirements of the names in `apart_from` are left out.
    """
    own = tuple(obj.key for obj in request.observed.values() if obj.kind == "ModelReplica")
    looked_into = ((name, found) for name, found in request.required.items() if name not in apart_from)
    required = tuple((name, frozenset(obj.key for obj in found)) for name, found in looked_into)
    return request.version, request.composite.key, tuple(request.observed), own, required, read_rounds(request)
