"""Decides a pass over a settled deployment once: while nothing that it looks at changes, its result stays the same.

Most passes are of this kind: Crossplane makes one a minute of every deployment, whether anything has changed or not.
What is not settled is decided anew each time: it is about to change, and how soon it is looked at again depends on how
often that was already (see `ttl`).
"""

from collections.abc import Callable
from typing import Final

from modelplane.lru import Lru, weigh
from modelplane.schedule.looked_at import looked_at
from modelplane.step import Request, Result

#: The results of settled passes by the versions of what they looked at; a thousand deployments of five replicas.
_RESULTS: Final = Lru[Result](16 * 1024 * 1024)


def decide_once(request: Request, decide: Callable[[Request], tuple[Result, bool]]) -> Result:
    """Return the result of a pass; `decide` gives it and whether the deployment is settled, unless that is known."""
    key = looked_at(request)
    known = _RESULTS.find(key)
    if known is not None:
        return known
    result, settled = decide(request)
    if settled:
        _RESULTS.put(key, result, weigh((key, result)))
    return result
