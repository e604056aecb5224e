"""What the access log of the public gateway says of a request."""

import pytest

from modelplane.kube.gateway.access_log import access_log, access_log_filter


@pytest.mark.parametrize("tokens", [True, False])
def test_tokens_are_counted_and_logged_only_where_they_are_asked_for(tokens: bool) -> None:
    (setting,) = access_log(tokens=tokens)["settings"]
    fields = setting["format"]["json"]
    assert {"caller", "service", "endpoint", "status", "attempts", "ms"} <= fields.keys()
    assert ({"input_tokens", "output_tokens"} <= fields.keys()) == tokens
    (lua,) = access_log_filter("f", "n", "g", tokens=tokens, passed="g")["spec"]["lua"]
    assert "envoy_on_request" in lua["inline"]
    assert "envoy_on_response" in lua["inline"]
    assert ("prompt_tokens" in lua["inline"]) == tokens


def test_no_field_of_the_access_log_holds_a_key_or_a_query() -> None:
    (setting,) = access_log(tokens=True)["settings"]
    text = str(setting).lower()
    assert not any(word in text for word in ("authorization", "x-api-key", "%req(:path)", "%req(x-envoy-original-path"))
