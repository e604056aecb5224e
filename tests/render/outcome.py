"""The outcome of a pass, in one form for the preview and for real Crossplane, so that the two can be compared."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.observed.fields import RESOURCE_NAME
from modelplane.preview.admission import admit
from modelplane.preview.composed import observe
from modelplane.preview.reconciler import Pass
from modelplane.reading.definitions import xrds
from modelplane.reading.kinds import CLUSTER_SCOPED, NAMESPACED, Key
from modelplane.reading.manifest_store import ManifestStore
from render.real import Pipeline, Rendered, identity, render

Manifest = dict[str, Any]
_STEP = re.compile(r'^Pipeline step "[^"]*": ')
_PREFIX = "crossplane: error: cannot render composite resource: "
#: Of an object's metadata what its composite determines; the rest is the server's.
DETERMINED = ("name", "namespace", "labels", "annotations", "ownerReferences")


@dataclass(frozen=True, slots=True)
class PassOutcome:
    """A pass of a composite.

    `status` is without conditions; `conditions` are (status, reason, message) by type. `composed` are the resources as
    they are after the pass, by composition resource name, without their status; `deleted` are identities. `warnings`
    are Crossplane's and the pipeline's. `error` is set when the pass failed.
    """

    status: Manifest = field(default_factory=dict)
    conditions: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    composed: Mapping[str, Manifest] = field(default_factory=dict)
    deleted: frozenset[tuple[str, str, str, str]] = frozenset()
    warnings: frozenset[str] = frozenset()
    error: str | None = None


def of_preview(done: Pass, before: ManifestStore, after: ManifestStore, key: Key) -> PassOutcome:
    """Return the outcome of a pass of the preview between two views."""
    composite = after.peek(key)
    assert composite is not None
    made = {} if done.error else observe(after, composite)
    return PassOutcome(
        status=_status(composite),
        conditions=_conditions(composite),
        composed={name: _essence(dict(obj)) for name, obj in made.items()},
        deleted=frozenset(identity(dict(_there(before, gone))) for gone in done.deleted),
        warnings=frozenset(done.warnings),
        error=done.error,
    )


def of_real(
    before: ManifestStore, key: Key, pipeline: Pipeline, kinds: tuple[tuple[str, str], ...] = ()
) -> PassOutcome:
    """Return the outcome of a pass of the real engine over what a view holds; `kinds` exist besides the usual ones."""
    composite = dict(_there(before, key))
    observed = [dict(obj) for obj in observe(before, composite).values()]
    own = {identity(composite), *map(identity, observed)}
    done = render(
        composite,
        pipeline,
        observed=observed,
        required=[dict(obj) for obj in before.everything() if identity(dict(obj)) not in own],
        schemas=openapi_documents(kinds),
    )
    return _of_rendered(done)


def _of_rendered(done: Rendered) -> PassOutcome:
    return PassOutcome(
        status=_status(done.composite),
        conditions=_conditions(done.composite),
        composed={} if done.error else {_resource_name(obj): _essence(_admitted(obj)) for obj in done.composed},
        deleted=frozenset(map(identity, done.deleted)),
        warnings=frozenset(_STEP.sub("", message) for kind, message in done.events if kind == "Warning"),
        error=done.error and done.error.removeprefix(_PREFIX).removeprefix("reconcile failed: "),
    )


def openapi_documents(more: tuple[tuple[str, str], ...] = ()) -> Iterator[Manifest]:
    """Yield an OpenAPI document for each group and version that exists, with its kinds, for schema requirements."""
    known = [(version, kind) for table in (NAMESPACED, CLUSTER_SCOPED) for version in table for kind in table[version]]
    ours = [("modelplane.ai/v1alpha1", kind) for kind in xrds()]
    by_version: dict[str, list[str]] = {}
    for version, kind in sorted({*known, *ours, *more}):
        by_version.setdefault(version, []).append(kind)
    for api_version, kinds in by_version.items():
        group, _, version = api_version.rpartition("/")
        schemas = {
            f"{group}.{version}.{kind}": {
                "type": "object",
                "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind}],
            }
            for kind in kinds
        }
        info = {"title": api_version, "version": version}
        yield {"openapi": "3.0.0", "info": info, "paths": {}, "components": {"schemas": schemas}}


def _there(store: ManifestStore, key: Key) -> Mapping[str, Any]:
    found = store.peek(key)
    assert found is not None, f"{key} is not there"
    return found


def _status(composite: Mapping[str, Any]) -> Manifest:
    return {name: value for name, value in composite.get("status", {}).items() if name != "conditions"}


def _conditions(composite: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    found = composite.get("status", {}).get("conditions", ())
    return {each["type"]: (each["status"], each["reason"], each.get("message", "")) for each in found}


def _resource_name(obj: Manifest) -> str:
    return str(obj["metadata"]["annotations"][RESOURCE_NAME])


def _admitted(obj: Manifest) -> Manifest:
    """Return an applied object as the API server stores it: the engine alone does no defaulting."""
    return admit(obj) if obj["apiVersion"].startswith("modelplane.ai/") else obj


def _essence(obj: Manifest) -> Manifest:
    """Return an object without its status and what Crossplane or the server writes to it later."""
    metadata = {name: obj["metadata"][name] for name in DETERMINED if obj["metadata"].get(name)}
    made = {name: value for name, value in obj.items() if name not in {"status", "metadata"}}
    if isinstance(made.get("spec"), Mapping):
        made["spec"] = {name: value for name, value in made["spec"].items() if name != "crossplane"}
    return {**made, "metadata": metadata}
