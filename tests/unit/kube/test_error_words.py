"""The words of errors, by the rules with which LiteLLM tells its exceptions apart.

LiteLLM itself calls real gateways in `tests/gateways/test_clients.py`, with packages of its own: its present versions
want older versions of openai and huggingface_hub than are pinned here. These are the rules of its
`exception_mapping_utils.py` (1.106) for servers with OpenAI's API, in their order, which decide before the status does.
"""

import json
from collections.abc import Iterator

import pytest

from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.fleet_filter import fleet_filter
from modelplane.kube.gateway.provider import refused_filter

#: Its exceptions by status.
_BY_STATUS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    404: "NotFoundError",
    408: "Timeout",
    429: "RateLimitError",
    502: "BadGatewayError",
    503: "ServiceUnavailableError",
    504: "Timeout",
}


def _exception(status: int, text: str) -> str:
    """Return the name of the exception that LiteLLM raises for an answer."""
    lower = text.lower()
    if any(words in lower for words in ("rate limit", "rate-limit", "rate_limit", "ratelimit")):
        return "RateLimitError"
    if "invalid_request_error" in text and "model_not_found" in text:
        return "NotFoundError"
    if "invalid_request_error" in text and "Incorrect API key provided" not in text:
        return "BadRequestError"
    if "Request too large" in text:
        return "RateLimitError"
    return _BY_STATUS.get(status, "APIError")


def _errors() -> Iterator[tuple[str, str]]:
    """Yield code and text of every error that the filters of the public gateway and the router write."""
    policies = (
        access_log_filter("f", "n", "g", tokens=True, passed="g"),
        fleet_filter("f", "n", ["r"], "g"),
        refused_filter("f", "n", "g"),
    )
    for policy in policies:
        for lua in policy["spec"]["lua"]:
            source = lua["inline"].replace("]==] .. service .. [==[", "ml/nope").replace("]==], [==[", "http://gw")
            source = source.replace("]==] .. said .. [==[", "Incorrect API key provided.")
            for part in source.split("[==[")[1:]:
                text = part.partition("]==]")[0]
                yield json.loads(text)["error"]["code"], text


#: Status and exception by the code of an error.
EXPECTED = {
    "bad_gateway": (502, "BadGatewayError"),
    "invalid_api_key": (401, "AuthenticationError"),
    "length_required": (411, "BadRequestError"),
    "loop_detected": (508, "APIError"),
    "model_not_found": (404, "NotFoundError"),
    "model_required": (400, "BadRequestError"),
    "not_found": (404, "NotFoundError"),
    "provider_unauthorized": (502, "BadGatewayError"),
    "rate_limit_exceeded": (429, "RateLimitError"),
    "request_headers_too_large": (431, "BadRequestError"),
    "request_too_large": (413, "BadRequestError"),
    "request_timeout": (408, "Timeout"),
    "timeout": (504, "Timeout"),
    "unavailable": (503, "ServiceUnavailableError"),
    "upgrade_not_supported": (400, "BadRequestError"),
}


def test_every_error_is_in_the_table() -> None:
    assert {code for code, _ in _errors()} == EXPECTED.keys()


@pytest.mark.parametrize(("code", "text"), sorted(set(_errors())))
def test_an_error_is_mapped_to_the_exception_of_its_status(code: str, text: str) -> None:
    status, expected = EXPECTED[code]
    assert _exception(status, text) == expected
