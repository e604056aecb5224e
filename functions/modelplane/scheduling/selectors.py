"""Finds the selectors of a deployment that do not compile, with the position of the error."""

from modelplane import cel
from modelplane.model.deployment import Deployment
from modelplane.model.placement import BadSelector


def bad_selectors(deployment: Deployment) -> tuple[BadSelector, ...]:
    """Return every selector that does not compile, in the order in which the deployment states them."""
    found: dict[BadSelector, None] = {}
    for engine in deployment.engines:
        for member in engine.members:
            for request in member.requests:
                for index, text in enumerate(request.selectors):
                    compiled = cel.compiled(text)
                    if isinstance(compiled, cel.SelectorError):
                        where = engine.name, request.name, index, compiled.line, compiled.column
                        found.setdefault(BadSelector(*where, compiled.why))
    return tuple(found)
