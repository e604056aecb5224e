"""HTTPRouteFilters: what a rule of a route does besides what Gateway API's own filters can."""

import json
from typing import Any, Final

from modelplane.kube.gateway.kinds import ENVOY_GROUP, envoy_object

KIND = "HTTPRouteFilter"
#: The types of errors that are neither the usual one of their status, by code.
_TYPES: Final = {
    "not_found": "not_found_error",
    "rate_limit_exceeded": "rate_limit_error",
    "request_timeout": "timeout_error",
}


def backend_host(name: str, namespace: str) -> dict[str, Any]:
    """Return the filter that sends each request with the hostname of the endpoint that it goes to."""
    return envoy_object(KIND, name, namespace, {"urlRewrite": {"hostname": {"type": "Backend"}}})


def error_body(status: int, message: str, code: str) -> str:
    """Return the body of an error as clients of OpenAI's API read it.

    LiteLLM takes every `invalid_request_error` for a status of 400, unless its code is `model_not_found` or its message
    says "Incorrect API key provided": so other types are used where the status says more.
    """
    kind = _TYPES.get(code, "invalid_request_error" if status < 500 else "server_error")
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def json_response(name: str, namespace: str, *, status: int, body: str) -> dict[str, Any]:
    """Return the filter that answers with a status and a JSON text."""
    inline = {"type": "Inline", "inline": body}
    response = {"statusCode": status, "contentType": "application/json", "body": inline}
    return envoy_object(KIND, name, namespace, {"directResponse": response})


def direct_response(name: str, namespace: str, *, status: int, message: str, code: str) -> dict[str, Any]:
    """Return the filter that answers with a status and an error as clients of OpenAI's API read it."""
    return json_response(name, namespace, status=status, body=error_body(status, message, code))


def replace_path(name: str, namespace: str, *, pattern: str, substitution: str) -> dict[str, Any]:
    """Return the filter that replaces what a regular expression (RE2) matches in the path."""
    replaced = {"pattern": pattern, "substitution": substitution}
    path = {"type": "ReplaceRegexMatch", "replaceRegexMatch": replaced}
    return envoy_object(KIND, name, namespace, {"urlRewrite": {"path": path}})


def filter_reference(name: str) -> dict[str, Any]:
    """Return the filter of a rule that refers to an HTTPRouteFilter of its namespace."""
    return {"type": "ExtensionRef", "extensionRef": {"group": ENVOY_GROUP, "kind": KIND, "name": name}}
