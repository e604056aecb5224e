"""Engines that serve as a pair: one reads prompts, the other writes answers."""

from e2e.fleet import Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind

ROUTE = Kind("gateway.networking.k8s.io/v1", "HTTPRoute")
POOL = Kind("inference.networking.k8s.io/v1", "InferencePool")


def test_a_prefill_and_a_decode_engine_serve_behind_a_picker(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=2)
    pair = [engine(2, name="prefill", phase="Prefill", copies=2), engine(4, name="decode", phase="Decode")]
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
    (pool,) = site.list(POOL, tenant)
    for route in site.list(ROUTE, tenant):
        (backend,) = route["spec"]["rules"][0]["backendRefs"]
        assert (backend["kind"], backend["name"]) == ("InferencePool", pool["metadata"]["name"])
