"""Where an object holds values of Secrets, and how they are sealed as soon as it is read."""

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from modelplane.step.sealed import PLACEHOLDER, Sealed

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
#: Where a provider-kubernetes Object has a manifest: the one it applies, and the one it saw.
_MANIFESTS: Final = (("spec", "forProvider", "manifest"), ("status", "atProvider", "manifest"))


def seal_secrets(body: dict[str, Any]) -> dict[str, Any]:
    """Return the object, which is changed: every value of the Secrets in it sealed, in `data`, as a server holds them.

    A Secret may be the object itself or what a provider-kubernetes Object applies and sees. What is no base64 is no
    value and is left out; so are the items of a SecretList, and kubectl's copy of what it applied.
    """
    if body.get("kind") == "SecretList":
        body.pop("items", None)
    for path in _secrets_in(body):
        secret = _at(body, path)
        data = {**_sealed_data(secret.pop("data", None)), **_sealed_texts(secret.pop("stringData", None))}
        if data:
            secret["data"] = data
        for annotated in (secret, body):
            annotations = _at(annotated, ("metadata", "annotations"))
            if isinstance(annotations, dict):
                annotations.pop(_LAST_APPLIED, None)
    return body


def turn_values(manifest: Mapping[str, Any], turn: Callable[[Sealed], Any]) -> Mapping[str, Any]:
    """Return a manifest with `turn` of every sealed value in its Secrets; itself where there is no Secret in it."""
    for path in _secrets_in(manifest):
        data = _at(manifest, (*path, "data"))
        turned = {key: turn(value) if isinstance(value, Sealed) else value for key, value in data.items()}
        manifest = _with(manifest, (*path, "data"), turned) if turned else manifest
    return manifest


def with_values_of(manifest: Mapping[str, Any], source: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest with the `data` that the Secrets in `source`, the same object, have."""
    for path in _secrets_in(source):
        data = _at(source, (*path, "data"))
        manifest = _with(manifest, (*path, "data"), data) if data else manifest
    return manifest


def mask_secrets(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest with a placeholder for every sealed value in its Secrets."""
    return turn_values(manifest, lambda _: PLACEHOLDER)


def _secrets_in(body: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the Secrets in an object, () for the object itself."""
    if body.get("kind") == "Secret":
        yield ()
    elif body.get("kind") == "Object":
        yield from (path for path in _MANIFESTS if _at(body, path).get("kind") == "Secret")


def _at(body: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the mapping at a path, an empty one where there is none."""
    for name in path:
        found = body.get(name)
        body = found if isinstance(found, Mapping) else {}
    return body


def _with(body: Mapping[str, Any], path: tuple[str, ...], value: Any) -> Mapping[str, Any]:
    """Return a copy with another value at a path that exists."""
    name, *rest = path
    return {**body, name: _with(body[name], tuple(rest), value) if rest else value}


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
