"""Engines that serve as a pair: one reads prompts, the other writes answers."""

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.waiting import eventually

ROUTE = Kind("gateway.networking.k8s.io/v1", "HTTPRoute")
POOL = Kind("inference.networking.k8s.io/v1", "InferencePool")


@pytest.mark.proves("P26")
def test_a_prefill_and_a_decode_engine_serve_behind_a_picker(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=2)
    pair = [engine(2, name="prefill", phase="Prefill", copies=2), engine(4, name="decode", phase="Decode")]
    pair[1]["members"][0]["template"]["spec"]["containers"][0]["args"].append("--port=8001")
    fleet.deploy("pair", serving={"mode": "PrefillDecode"}, engines=pair)
    fleet.wait_ready("pair")
    pods = fleet.pods(cluster)
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    devices = [len(claim["status"]["allocation"]["devices"]["results"]) for claim in fleet.claims(cluster)]
    assert sorted(devices) == [2, 2, 4]
    site, tenant = fleet.clusters[cluster].cluster.api, tenant_namespace(fleet.tag)
    everything = fleet.clusters[cluster].pods(tenant)
    (picker,) = [pod for pod in everything if pod["metadata"]["name"] not in fleet.names(cluster)]
    assert picker["status"]["phase"] == "Running"

    def assert_routes_lead_to_pools() -> None:
        pools = {pool["metadata"]["name"]: str(pool["spec"]["selector"]) for pool in site.list(POOL, tenant)}
        (led_to,) = zip(*(route["spec"]["rules"][0]["backendRefs"] for route in site.list(ROUTE, tenant)), strict=True)
        assert {each["kind"] for each in led_to} == {POOL.kind}
        assert sorted(each["name"] for each in led_to) == sorted(pools)
        assert len(set(pools.values())) == 1

    eventually(assert_routes_lead_to_pools, within=SOON)
