"""Caches the results of passes over settled deployments: as long as no input changes, the result is the same.

Most passes are of this kind: Crossplane reconciles every deployment once a minute, whether or not anything has changed.
A deployment that is not settled is decided in every pass: it is about to change, and its TTL depends on the number of
passes without a change (see `ttl`).
"""

from collections.abc import Callable
from typing import Final

from modelplane.lru import Lru, weigh
from modelplane.schedule.looked_at import looked_at
from modelplane.step import Request, Result

#: The results of settled passes by the versions of their inputs: enough for a thousand deployments of five replicas.
_RESULTS: Final = Lru[Result](16 * 1024 * 1024)


def decide_once(request: Request, decide: Callable[[Request], tuple[Result, bool]]) -> Result:
    """Return the result of a pass, cached or from `decide`, which also returns whether the deployment is settled."""
    key = looked_at(request)
    known = _RESULTS.find(key)
    if known is not None:
        return known
    result, settled = decide(request)
    if settled:
        _RESULTS.put(key, result, weigh((key, result)))
    return result
