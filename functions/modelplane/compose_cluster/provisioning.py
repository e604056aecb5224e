"""Carries out what a source of clusters returns: its resources, what it needs to know, and the order of deletion."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from modelplane.compose_cluster.sources import CONFIG, Provision, Resource
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.kube.usage import ordered
from modelplane.model.observation import Gap
from modelplane.observed.fields import mapping, text
from modelplane.step import Object, Request, Requirement

#: Composition resource names of the Usages begin with this.
_ORDER = "outlives-"


def guarded(request: Request, provision: Provision) -> Provision:
    """Return a provision of which nothing fails for want of a kind: without resources and requirements of such kinds.

    What was observed of these is held by `keep`.
    """
    lacking = _lacking(request, provision)
    if not lacking:
        return provision
    there = {name: each for name, each in provision.resources.items() if _kind(each.body) not in lacking}
    needs = tuple(each for each in provision.requirements if (each.api_version, each.kind) not in lacking)
    why = require.missing_kinds(request, provision.kinds, provision.install)
    waits = why or "the kinds of the provider are not known yet"
    return replace(provision, resources=there, requirements=needs, missing=(waits, *provision.missing))


def check(provision: Provision) -> None:
    """Raise ValueError for a mistake of the source: it composes or requires a kind that may not exist, undeclared.

    Where that kind does not exist the whole pass would fail, and what waits for its deletion would wait for ever.
    """
    declared = {(each.api_version, each.kind) for each in provision.kinds}
    used = [(*_kind(each.body), f"resource {name}") for name, each in provision.resources.items()]
    used += [(each.api_version, each.kind, f"requirement {each.name}") for each in provision.requirements]
    for api, kind, by in used:
        if (api, kind) not in declared and not require.is_certain(str(api)):
            raise ValueError(f"{by} of the source has kind {kind} ({api}), which is not among the source's kinds")


def _kind(body: Mapping[str, object]) -> tuple[object, object]:
    return body["apiVersion"], body["kind"]


def _lacking(request: Request, provision: Provision) -> set[tuple[object, object]]:
    """Return the (apiVersion, kind) of the source that the control cluster lacks, or may lack."""
    return {
        (each.api_version, each.kind)
        for each in provision.kinds
        if require.missing_kinds(request, (each,), provision.install) != ""
    }


def keep(request: Request, provision: Provision, composed: Collection[str]) -> dict[str, Resource]:
    """Return every other observed resource, held, while a kind of the source is missing: else it would be deleted."""
    if not _lacking(request, provision):
        return {}
    left = {name: each for name, each in request.observed.items() if name not in composed}
    return {name: Resource(held(each.body), ready=False) for name, each in left.items()}


def unreadable(request: Request, provision: Provision) -> str | None:
    """Return why nothing can be changed: a kind of what exists is gone, None otherwise.

    Crossplane could neither apply such a resource nor leave it out.
    """
    gone = {_kind(each.body) for each in request.observed.values()} & {
        (each.api_version, each.kind)
        for each in provision.kinds
        if require.missing_kinds(request, (each,), provision.install)
    }
    return require.missing_kinds(request, provision.kinds, provision.install) if gone else None


def requirements(request: Request, provision: Provision) -> tuple[Requirement, ...]:
    """Return the requirements of a source, those that tell whether its kinds exist, and what is not gone yet.

    Of what is not gone only kinds that exist are required: another one would fail the pass.
    """
    kinds = {(each.api_version, each.kind) for each in provision.kinds} - _lacking(request, provision)
    left = (
        need
        for need in _left(request, provision).values()
        if (need.api_version, need.kind) in kinds or require.is_certain(need.api_version)
    )
    return *provision.requirements, *require.definitions(request, provision.kinds), *left


def order(request: Request, provision: Provision) -> dict[str, Resource]:
    """Return the Usages by which resources outlive others, by composition resource name.

    Each needs the names of both ends, so it is composed once both are observed, and stays then: also after its user is
    composed no more, until that is gone.
    """
    usages: dict[str, Resource] = {}
    for kept, users in provision.outlives.items():
        for user in users:
            of, by, name = request.observed.get(kept), request.observed.get(user), _called(kept, user)
            if name in request.observed and not (of and by):
                usages[name] = Resource(held(request.observed[name].body), ready=True)
            elif of and by:
                usages[name] = Resource(_usage(of, by), ready=name in request.observed)
    for name, left in _left(request, provision).items():
        if request.one(left) is not Gap.ABSENT:
            usages[name] = Resource(held(request.observed[name].body), ready=True)
    return usages


def usages_about(provision: Provision, resource: str) -> set[str]:
    """Return the composition resource names of the Usages by which a resource outlives others, or others it."""
    return {
        _called(kept, user) for kept, users in provision.outlives.items() for user in users if resource in (kept, user)
    }


def _called(kept: str, user: str) -> str:
    return f"{_ORDER}{kept}-{user}"


def _left(request: Request, provision: Provision) -> dict[str, Requirement]:
    """Return what is composed no more and was to be outlived, by the composition resource name of its Usage.

    Crossplane observes no longer what is composed no more, though a finalizer may keep it.
    """
    wanted = {_called(kept, user) for kept, users in provision.outlives.items() for user in users}
    composed = {
        (*_kind(each.body), each.name)
        for name, each in request.observed.items()
        if name in provision.resources or name == CONFIG
    }
    old = {name: each for name, each in request.observed.items() if name.startswith(_ORDER) and name not in wanted}
    users = {name: _user(usage) for name, usage in old.items()}
    return {
        name: Requirement(f"user-of-{name}", api, kind, match_name=called, namespace=old[name].namespace or None)
        for name, (api, kind, called) in users.items()
        if (api, kind, called) not in composed
    }


def _user(usage: Object) -> tuple[str, str, str]:
    """Return apiVersion, kind and name of what the Usage is by."""
    by = mapping(mapping(usage.body.get("spec")).get("by"))
    return text(by.get("apiVersion")), text(by.get("kind")), text(mapping(by.get("resourceRef")).get("name"))


def _usage(of: Object, by: Object) -> dict[str, object]:
    ends = [{"apiVersion": each.body["apiVersion"], "kind": each.kind, "name": each.name} for each in (of, by)]
    return ordered(ends[0], ends[1], namespace=of.namespace)
