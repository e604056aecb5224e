"""Who may call a service: the keys of its callers, and the origins of pages that call it from a browser."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.model.names import HEADER_CALLER

KIND: Final = "SecurityPolicy"
#: Headers that a caller's key may be in; a key in Authorization stands after `Bearer `.
KEY_HEADERS: Final = ("Authorization", "x-api-key")
#: By the Fetch standard `*` does not stand for Authorization.
#: Of the headers of an answer a page reads few that are not named.
_CORS: Final = {
    "allowMethods": ["GET", "POST", "DELETE", "OPTIONS"],
    "allowHeaders": ["*", "Authorization"],
    "exposeHeaders": ["Retry-After", "x-request-id"],
    "maxAge": "1h",
}


def caller_keys(name: str, namespace: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Secret with the keys by the names of their callers; all of the keys differ."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": dict(keys)}


def security_policy(
    name: str, namespace: str, route: str, *, keys: str | None, origins: Sequence[str]
) -> dict[str, Any] | None:
    """Return the policy of a route: its callers need a key of the Secret `keys`, pages of the origins may call it.

    None without either. A key is not sent on, and its name is the caller's for the filters that follow.
    """
    checked = {
        "apiKeyAuth": {
            "credentialRefs": [{"group": "", "kind": "Secret", "name": keys}],
            "extractFrom": [{"headers": list(KEY_HEADERS)}],
            "forwardClientIDHeader": HEADER_CALLER,
            "sanitize": True,
        }
    }
    cors = {"cors": {"allowOrigins": list(origins), **_CORS}}
    rules = {**(checked if keys else {}), **(cors if origins else {})}
    return envoy_object(KIND, name, namespace, {"targetRefs": [target("HTTPRoute", route)], **rules}) if rules else None
