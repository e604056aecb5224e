"""The order of resources that refer to one another: what is referred to is composed first, and removed last.

Crossplane applies composed resources in no order, and a pass may end between any two of them. So a resource is composed
or changed only once everything exists that it will refer to, and none is removed while an existing one refers to it.

What is kept for another reason than an existing reference has a rule of its own:

- `compose_replica.handover`: a route turns to new backends once they answer, which takes longer than to exist.
- `compose_replica.ending`: what leads to the pods stays until the last pod is gone, which no composed resource shows.
- `compose_cache.spare_volumes`: a volume stays while replicas, which are other composites, may mount it.
- `compose_cluster.provisioning`: Usages order what Crossplane deletes when it calls no function any more.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from modelplane.composing.hold import held
from modelplane.observed.fields import text
from modelplane.step import Manifest, Object

#: Fields with which an object attaches itself to another one, which does not depend on it.
_ATTACHING: Final = frozenset({"targetRef", "targetRefs", "parentRefs"})


def ordered(
    wanted: Mapping[str, Manifest],
    needs: Mapping[str, Collection[str]],
    observed: Mapping[str, Object],
    kept: Mapping[str, Manifest] | None = None,
) -> dict[str, Manifest]:
    """Return the resources of this pass, all by composition resource name.

    `needs` are the resources that must exist before another one is composed or changed, and until it is removed. What
    an observed object refers to is read from its spec. `kept` are the observed resources as they may be kept, by
    default all of them as observed.
    """
    leaving = {resource: found for resource, found in observed.items() if resource not in wanted}
    refers = {resource: tuple(_referred(resource, found, leaving)) for resource, found in observed.items()}
    if kept is None:
        kept = {resource: held(found.body) for resource, found in observed.items()}
    return arrange(wanted, needs, refers, kept)


def arrange(
    wanted: Mapping[str, Manifest],
    needs: Mapping[str, Collection[str]],
    refers: Mapping[str, Collection[str]],
    kept: Mapping[str, Manifest],
) -> dict[str, Manifest]:
    """Return the same where it is known what each existing resource `refers` to; its keys are what exists."""
    made = {name: body for name, body in wanted.items() if refers.keys() >= {*needs.get(name, ())}}
    leaving = refers.keys() - wanted.keys()
    staying = (wanted.keys() - made.keys()).union(*refers.values(), *(needs.get(each, ()) for each in leaving))
    return {**{name: kept[name] for name in sorted(staying & kept.keys())}, **made}


def _referred(resource: str, referrer: Object, others: Mapping[str, Object]) -> Iterator[str]:
    """Yield which of the other resources an object refers to, by their kind and name, or by name alone."""
    named = {*_references(referrer.body.get("spec"))} if others else set()
    for other, found in others.items():
        if other != resource and named & {("", found.name), (found.kind, found.name)}:
            yield other


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of each reference in a value at any depth, "" without a kind; none by which it attaches."""
    if isinstance(value, Mapping):
        if isinstance(name := value.get("name"), str):
            yield text(value.get("kind")), name
        for field, each in value.items():
            if field not in _ATTACHING:
                yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
