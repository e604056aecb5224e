"""The endpoint picker: its configuration is explicit, its readiness counts, and it is never one of the pool."""

import json
from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_replica import replicas as given

BODY = given.pair("--port=8200")


def config(body: dict[str, Any]) -> dict[str, Any]:
    (text,) = given.manifest_of(given.run(body), "picker-configmap")["data"].values()
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def plugins(body: dict[str, Any]) -> dict[str, Any]:
    return {plugin["type"]: plugin.get("parameters") for plugin in config(body)["plugins"]}


def test_the_three_without_which_a_pair_silently_only_decodes_are_in_the_configuration() -> None:
    found = plugins(BODY)
    assert found["disagg-profile-handler"] == {"deciders": {"prefill": "prefix-based-pd-decider"}}
    assert "disagg-headers-handler" in found
    assert found["prefix-based-pd-decider"] == {"nonCachedTokens": 16}
    assert found["approx-prefix-cache-producer"] == {"autoTune": False, "blockSizeTokens": 16}


def test_each_phase_has_a_profile_that_is_filtered_by_its_role_and_every_plugin_is_declared() -> None:
    profiles = {
        profile["name"]: [row["pluginRef"] for row in profile["plugins"]]
        for profile in config(BODY)["schedulingProfiles"]
    }
    assert {name: refs[0] for name, refs in profiles.items()} == {
        "prefill": "prefill-filter",
        "decode": "decode-filter",
    }
    assert {ref for refs in profiles.values() for ref in refs} <= plugins(BODY).keys()


@pytest.mark.parametrize(
    ("reader", "writer", "tokens"),
    [
        ([], ["--port=8200"], 16),
        ([], ["--port=8200", "--block-size=32"], 32),
        (["--block-size", "64"], ["--port=8200"], 64),
        (["--block-size=64"], ["--port=8200", "--page-size=128"], 128),
        ([], ["vllm serve m --port 8200 --block_size 8"], 8),
        ([], ["--port=8200", "--block-size=auto"], 16),
        (["--block-size=64"], ["--port=8200", "--block-size=0"], 64),
    ],
)
def test_the_picker_counts_in_the_blocks_of_the_engines(reader: list[str], writer: list[str], tokens: int) -> None:
    body = given.pair(*writer)
    body["spec"]["engines"][0]["members"][0]["template"] = {"spec": {"containers": [given.container(args=reader)]}}
    assert plugins(body)["approx-prefix-cache-producer"]["blockSizeTokens"] == tokens


def _annotations(result: Result) -> dict[str, str]:
    found: dict[str, str] = given.manifest_of(result, "picker")["spec"]["template"]["metadata"]["annotations"]
    return found


def test_another_configuration_is_another_picker_and_the_same_one_is_not() -> None:
    before = _annotations(given.run(BODY))
    assert _annotations(given.run(given.pair("--port=8300"))) == before
    assert _annotations(given.run(given.pair("--port=8200", "--block-size=32"))) != before


def test_the_pool_selects_the_serving_pods_and_not_the_picker() -> None:
    result = given.run(BODY)
    selector = given.manifest_of(result, "inferencepool")["spec"]["selector"]["matchLabels"]
    for engine in ("reader", "writer"):
        labels = given.manifest_of(result, f"deployment-{engine}")["spec"]["template"]["metadata"]["labels"]
        assert selector.items() <= labels.items()
    picker = given.manifest_of(result, "picker")["spec"]["template"]["metadata"]["labels"]
    assert not selector.items() & picker.items()
    assert given.manifest_of(result, "picker-service")["spec"]["selector"].items() <= picker.items()


def test_the_route_leads_to_the_pool_without_a_timeout_and_there_is_no_service() -> None:
    result = given.run(BODY)
    pool = given.manifest_of(result, "inferencepool")
    backend = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": pool["metadata"]["name"]}
    (rule,) = given.manifest_of(result, "httproute")["spec"]["rules"]
    assert rule["backendRefs"] == [backend]
    assert rule["timeouts"] == {"request": "0s"}
    assert "service" not in result.desired
    routes = [name for name in result.desired if name.startswith(("httproute", "inferencepool"))]
    assert routes == ["inferencepool", "httproute"], "asked twice, a dead picker would result in 500"


def test_a_pair_serves_only_with_its_picker() -> None:
    observed = given.serving(BODY)
    assert given.run(BODY, observed).ready is True
    there = observed["picker"]["status"]["atProvider"]["manifest"]
    there["status"]["availableReplicas"] = 0
    there["status"]["conditions"] = [{"type": "Available", "status": "False", "message": "no minimum availability"}]
    result = given.run(BODY, observed)
    assert result.ready is False
    name = there["metadata"]["name"]
    assert given.condition(result, "ModelReady").message == f"Deployment {name}: no minimum availability"
    assert result.status is not None
    assert [row["engine"] for row in result.status["workloads"]] == ["reader", "writer"]
    assert name in json.dumps(result.desired["pods"].build())


@pytest.mark.parametrize("resource", ["picker", "inferencepool", "httproute"])
def test_a_pair_serves_only_once_its_edge_is_applied(resource: str) -> None:
    observed = given.serving(BODY)
    del observed[resource]
    result = given.run(BODY, observed)
    assert result.ready is False
    assert "not applied yet" in given.condition(result, "ModelReady").message


def test_an_engine_called_as_the_picker_is_distinct_from_it() -> None:
    body = given.pair("--port=8200")
    body["spec"]["engines"][0]["name"] = "picker"
    result = given.run(body)
    names = {given.manifest_of(result, resource)["metadata"]["name"] for resource in ("picker", "deployment-picker")}
    assert len(names) == 2


def _renamed(observed: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """Return observed Objects with the picker as an earlier version has named and selected it."""
    old = json.loads(
        json.dumps(observed).replace(before, after).replace("modelplane.ai/picker", "modelplane.ai/workload")
    )
    return dict(old)


@pytest.mark.parametrize("lost", [None, "picker"])
def test_a_picker_of_an_earlier_version_keeps_its_name_and_its_selector_also_after_an_edit(lost: str | None) -> None:
    name = given.manifest_of(given.run(BODY), "picker")["metadata"]["name"]
    old = "pair-picker-0a1b2c3d"
    observed = _renamed(given.serving(BODY), name, old)
    observed.pop(lost or "", None)
    for body in (BODY, given.pair("--port=8200", "--max-model-len=4096")):
        result = given.run(body, observed)
        made = given.manifest_of(result, "picker")
        assert made["metadata"]["name"] == old
        assert made["spec"]["selector"]["matchLabels"] == {"modelplane.ai/workload": old}
        assert made["spec"]["template"]["metadata"]["labels"] == {"modelplane.ai/workload": old}
        service = given.manifest_of(result, "picker-service")
        assert service["metadata"]["name"] == old
        assert service["spec"]["selector"] == {"modelplane.ai/workload": old}
        pool = given.manifest_of(result, "inferencepool")
        assert pool["spec"]["endpointPickerRef"]["name"] == old


def test_no_pods_of_engines_have_the_label_by_which_a_pickers_service_selects_its_pods() -> None:
    result = given.run(BODY)
    name = given.manifest_of(result, "picker")["metadata"]["name"]
    assert given.manifest_of(result, "picker-service")["spec"]["selector"] == {"modelplane.ai/picker": name}
    assert given.manifest_of(result, "picker")["spec"]["selector"]["matchLabels"] == {"modelplane.ai/picker": name}
    labels = given.manifest_of(result, "picker")["spec"]["template"]["metadata"]["labels"]
    assert labels["modelplane.ai/picker"] == name
    engines = [given.manifest_of(result, resource) for resource in result.desired if resource.startswith("deployment-")]
    assert engines
    assert not [each for each in engines if "modelplane.ai/picker" in str(each)]
