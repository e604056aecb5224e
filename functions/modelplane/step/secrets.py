"""The one rule on Secrets: no step, log, status or preview ever holds a value of one."""

from typing import Any, Final

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def without_secrets(body: dict[str, Any]) -> dict[str, Any]:
    """Return the object, which is changed, without a Secret's values.

    A Secret may be the object itself, one of a list of them, or what a provider-kubernetes Object applies and sees.
    """
    if body.get("kind") == "Secret":
        _empty(body)
    if body.get("kind") == "SecretList":
        body.pop("items", None)
    if body.get("kind") == "Object":
        for part, field in (("spec", "forProvider"), ("status", "atProvider")):
            manifest = _inside(_inside(body, part), field).get("manifest")
            if isinstance(manifest, dict) and manifest.get("kind") == "Secret":
                _empty(manifest)
                _inside(_inside(body, "metadata"), "annotations").pop(_LAST_APPLIED, None)
    return body


def _empty(secret: dict[str, Any]) -> None:
    secret.pop("data", None)
    secret.pop("stringData", None)
    _inside(_inside(secret, "metadata"), "annotations").pop(_LAST_APPLIED, None)


def _inside(body: dict[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name)
    return found if isinstance(found, dict) else {}
