"""Holds composed resources: returns them as they are observed, while their inputs are not known.

Crossplane deletes a resource that is left out of the desired state, so a step that cannot compose must hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.model.conditions import Condition
from modelplane.model.names import ANNOTATION_EXTERNAL_NAME, ANNOTATION_POLL
from modelplane.observed.fields import mapping, mappings
from modelplane.step import AWAITING, Desired, Manifest, Object, Request, Requirement, Result, SchemaRequirement

#: Domain of labels and annotations that Crossplane writes itself.
_FOREIGN_DOMAIN: Final = "crossplane.io"
#: What a function composes there: a managed resource without its external name is made a second time.
_COMPOSED: Final = frozenset({ANNOTATION_POLL, ANNOTATION_EXTERNAL_NAME})
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def _is_foreign(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    crossplane = domain == _FOREIGN_DOMAIN or domain.endswith(f".{_FOREIGN_DOMAIN}")
    return key not in _COMPOSED and (key == _LAST_APPLIED or (bool(slash) and crossplane))


def _kept(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return identity, labels, annotations and additional owners: server-side apply removes fields left out."""
    kept: dict[str, Any] = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    for field in ("labels", "annotations"):
        entries = {key: value for key, value in (metadata.get(field) or {}).items() if not _is_foreign(key)}
        kept |= {field: entries} if entries else {}
    owners = [owner for owner in metadata.get("ownerReferences") or () if not owner.get("controller")]
    return kept | ({"ownerReferences": owners} if owners else {})


def held(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observed composed resource for the desired state: without status, and with its metadata as composed.

    Left out are the composite's own reference, the labels and annotations that Crossplane writes (not the external
    name), and the values that the provider patches into an Object's manifest.
    """
    content = {field: value for field, value in body.items() if field not in {"metadata", "status"}}
    if body["kind"] == "Object":
        content["spec"] = _without_patched_data(mapping(body.get("spec")))
    return {**content, "metadata": _kept(body["metadata"])}


def _without_patched_data(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object's spec without the values that its references patch into the `data` of its manifest."""
    patched = {each.get("toFieldPath") for each in mappings(spec.get("references")) if "patchesFrom" in each}
    manifest = mapping(mapping(spec.get("forProvider")).get("manifest"))
    if not patched or "data" not in manifest:
        return spec
    values = mapping(manifest["data"]) if "data" not in patched else {}
    data = {key: value for key, value in values.items() if f"data[{key}]" not in patched}
    kept = {field: value for field, value in manifest.items() if field != "data"} | ({"data": data} if data else {})
    return {**spec, "forProvider": {**spec["forProvider"], "manifest": kept}}


def hold_all(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return every observed resource held, by composition resource name."""
    return {resource: held(found.body) for resource, found in request.observed.items()}


def last_status(composite: Object) -> dict[str, Any]:
    """Return what the status of a composite says beside its conditions: a field that is left out would be removed."""
    return {name: value for name, value in mapping(composite.body.get("status")).items() if name != "conditions"}


def held_result(
    request: Request,
    *conditions: Condition,
    needs: tuple[Requirement, ...] = (),
    schemas: Sequence[SchemaRequirement] = (),
    status: Manifest | None = None,
    objects: Mapping[str, Manifest] | None = None,
) -> Result:
    """Return a result that keeps the observed resources, or `objects` of them, and the status, and is not ready.

    Here each resource counts as ready. Replicas and caches hold by results of their own (`compose_replica/result`,
    `compose_cache/cache`): each of their Objects is as ready as it was observed, and what serves stays Ready meanwhile.
    """
    kept = hold_all(request) if objects is None else objects
    return Result(
        desired={name: Desired.of(body, ready=True) for name, body in kept.items()},
        status=last_status(request.composite) if status is None else status,
        conditions=conditions,
        requirements=needs,
        schemas=tuple(schemas),
        ttl=AWAITING,
        ready=False,
    )
