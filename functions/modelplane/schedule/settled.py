"""Caches the results of passes over settled deployments: as long as no input changes, the result is the same.

Most passes are of this kind: Crossplane reconciles every deployment once a minute, whether or not anything has changed.
A deployment that is not settled is decided in every pass: it is about to change, and its TTL depends on the number of
passes without a change (see `ttl`).
"""

from collections.abc import Callable, Collection, Hashable
from typing import Final

from modelplane.lru import Lru, weigh
from modelplane.schedule.rounds import read_rounds
from modelplane.step import Request, Result

#: The results of settled passes by the versions of their inputs: enough for a thousand deployments of five replicas.
_RESULTS: Final = Lru[Result](16 * 1024 * 1024)


def input_versions(request: Request, without: Collection[str] = ()) -> Hashable:
    """Return the versions of all inputs of a pass: equal ones give equal decisions and refusals.

    The order of lists does not matter. Of the composed resources, all names count, and the versions of the
    ModelReplicas; of the context, only how far the pass is. Requirements with the names in `without` are left out.
    """
    own = tuple(obj.key for obj in request.observed.values() if obj.kind == "ModelReplica")
    looked_into = ((name, found) for name, found in request.required.items() if name not in without)
    required = tuple((name, frozenset(obj.key for obj in found)) for name, found in looked_into)
    return request.version, request.composite.key, tuple(request.observed), own, required, read_rounds(request)


def decide_once(request: Request, decide: Callable[[Request], tuple[Result, bool]]) -> Result:
    """Return the result of a pass, cached or from `decide`, which also returns whether the deployment is settled."""
    key = input_versions(request)
    known = _RESULTS.find(key)
    if known is not None:
        return known
    result, settled = decide(request)
    if settled:
        _RESULTS.put(key, result, weigh((key, result)))
    return result
