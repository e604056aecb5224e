"""Validates a ClusterModel: whether each of its profiles can be served, and how many replicas run on them."""

from modelplane.api.clustermodel import ClusterModelSpec
from modelplane.catalogue import InvalidProfile, expand
from modelplane.composing import requirements as require
from modelplane.model.conditions import Condition, ModelCondition, Reason, Status
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.catalogue import find_bad_selectors
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.memo import once_per_version
from modelplane.observed.strict import read_strictly
from modelplane.step import AWAITING, SETTLED, Object, Request, Result


@once_per_version
def find_problems(model: Object) -> tuple[str, ...]:
    """Return the problems of the profiles, each with its field; empty if every profile can be served."""
    spec = read_strictly(ClusterModelSpec, model)
    if isinstance(spec, Malformed):
        return (str(spec),)
    found = []
    body = mapping(model.body.get("spec"))
    for entry in mappings(body.get("serving")):
        expansion = expand(body, entry, cached=False)
        if isinstance(expansion, InvalidProfile):
            found.append(str(expansion))
            continue
        found += map(str, find_bad_selectors(expansion))
    return tuple(found)


def compose(request: Request) -> Result:
    """Return the condition Accepted and the number of replicas on each profile; nothing is composed."""
    found = find_problems(request.composite)
    needs = require.model_replicas(request.composite.name)
    replicas = request.all(needs)
    verdict = (
        Condition(ModelCondition.ACCEPTED, Status.FALSE, Reason.INVALID_PROFILE, "; ".join(found))
        if found
        else Condition(ModelCondition.ACCEPTED, Status.TRUE, Reason.AVAILABLE)
    )
    return Result(
        status={} if isinstance(replicas, Gap) else {"replicas": len(replicas)},
        conditions=(verdict,),
        requirements=(needs,),
        ready=not found,
        ttl=SETTLED if isinstance(replicas, Gap) or not found else AWAITING,
        cacheable=True,
    )
