"""Finds the values of Secrets in an object, and seals them as soon as it is read."""

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

from modelplane.step.sealed import PLACEHOLDER, Sealed

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
#: The manifests in a provider-kubernetes Object: the one that it applies, and the observed one.
_MANIFESTS: Final = (("spec", "forProvider", "manifest"), ("status", "atProvider", "manifest"))
#: Most keys of a Secret or ConfigMap, or labels of an object: if an object of more than 32 KiB has more, none is read.
#: A megabyte of empty values takes half a second, and a ModelService names 64.
MOST_KEYS: Final = 1000
#: The fields of a Secret besides its values, which are `data` and `stringData`.
_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata", "type", "immutable"})

_Turn = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def seal_secrets(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object with every value of the Secrets in it sealed, in `data`, as a server stores them.

    Secrets may be at any depth of lists and of the manifests of provider-kubernetes Objects. Values that are not base64
    are left out, and so are unknown fields of Secrets and kubectl's last-applied annotation. An object without Secrets
    is returned itself.
    """
    return _turn_secrets(body, _sealed, _without_last_applied)


def turn_values(manifest: Mapping[str, Any], turn: Callable[[Sealed], Any]) -> Mapping[str, Any]:
    """Return a manifest with `turn` applied to every sealed value in its Secrets; itself without Secrets."""

    def turned(secret: Mapping[str, Any]) -> Mapping[str, Any]:
        data = _at(secret, ("data",))
        values = {key: turn(value) if isinstance(value, Sealed) else value for key, value in data.items()}
        return {**secret, "data": values} if values else secret

    return _turn_secrets(manifest, turned)


def with_values_of(manifest: Mapping[str, Any], source: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest with the `data` of the Secrets in `source`, another version of the same object."""
    found: list[Mapping[str, Any]] = []

    def note(secret: Mapping[str, Any]) -> Mapping[str, Any]:
        found.append(_at(secret, ("data",)))
        return secret

    def with_data(secret: Mapping[str, Any]) -> Mapping[str, Any]:
        data = next(rest, {})
        return {**secret, "data": data} if data else secret

    _turn_secrets(source, note)
    rest = iter(found)
    return _turn_secrets(manifest, with_data)


def mask_secrets(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest with a placeholder for every sealed value in its Secrets."""
    return turn_values(manifest, lambda _: PLACEHOLDER)


def _turn_secrets(
    manifest: Mapping[str, Any], turn: _Turn, turn_holder: _Turn = lambda same: same
) -> Mapping[str, Any]:
    """Return a manifest with `turn` applied to every Secret in it, and `turn_holder` to everything that contains one.

    Only lists and Objects are searched, not every field: most objects contain no manifest, and cost two look-ups.
    """
    kind = manifest.get("kind")
    if kind == "Secret":
        return turn(manifest)
    before = manifest
    if kind == "Object":
        for path in _MANIFESTS:
            inner = _at(manifest, path)
            turned = _turn_secrets(inner, turn, turn_holder)
            manifest = manifest if turned is inner else _with(manifest, path, turned)
    listed = manifest.get("items")
    if isinstance(listed, list | tuple):
        items = [_turn_item(each, kind, turn, turn_holder) for each in listed]
        if any(item is not each for item, each in zip(items, listed, strict=True)):
            manifest = {**manifest, "items": items}
    return manifest if manifest is before else turn_holder(manifest)


def _turn_item(item: Any, kind: object, turn: _Turn, turn_holder: _Turn) -> Any:
    """Return an item of a list of this kind with its Secrets turned; items of a SecretList may lack a kind."""
    if not isinstance(item, Mapping):
        return item
    return turn(item) if kind == "SecretList" else _turn_secrets(item, turn, turn_holder)


def _at(body: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the mapping at a path, an empty one if there is none."""
    for name in path:
        found = body.get(name)
        body = found if isinstance(found, Mapping) else {}
    return body


def _with(body: Mapping[str, Any], path: tuple[str, ...], value: Any) -> Mapping[str, Any]:
    """Return a copy with another value at an existing path."""
    name, *rest = path
    return {**body, name: _with(body[name], tuple(rest), value) if rest else value}


def _sealed(secret: Mapping[str, Any]) -> Mapping[str, Any]:
    data = {**_sealed_data(secret.get("data")), **_sealed_texts(secret.get("stringData"))}
    kept = {name: value for name, value in secret.items() if name in _FIELDS}
    return _without_last_applied({**kept, "data": data} if data else kept)


def _without_last_applied(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    path = ("metadata", "annotations")
    annotations = _at(manifest, path)
    if _LAST_APPLIED not in annotations:
        return manifest
    return _with(manifest, path, {name: text for name, text in annotations.items() if name != _LAST_APPLIED})


def _sealed_data(data: Any) -> dict[str, Sealed]:
    sealed = {}
    for key, value in data.items() if isinstance(data, Mapping) else ():
        content = value if isinstance(value, Sealed) else _decoded(value)
        if content is not None:
            sealed[key] = content
    return sealed


def _decoded(value: Any) -> Sealed | None:
    try:
        return Sealed(b64decode(value, validate=True)) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _sealed_texts(texts: Any) -> dict[str, Sealed]:
    rows = texts.items() if isinstance(texts, Mapping) else ()
    return {key: Sealed(value.encode(errors="replace")) for key, value in rows if isinstance(value, str)}
