"""The edge of a replica: how requests come from its cluster's gateway to its serving pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.cluster_hold import KEEPER
from modelplane.compose_replica.engine_pods import requests_port
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.picker import compose_picker
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.kube.backends import inference_pool, pool_backend, service, service_backend
from modelplane.kube.gateway.route import replica_route
from modelplane.model.names import LABEL_SERVING
from modelplane.observed.engine_port import engine_port


def _route(instance: Instance, backend: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the Object of the route from the replica's host to a backend.

    It keeps the InferenceCluster from being deleted, because it stays until an ending replica's pods are gone.
    """
    site = instance.site
    route = replica_route(instance.name, site.namespace, instance.labels, hostname=instance.hostname, backend=backend)
    return {KEEPER: site.place_keeping_cluster(route)}


def compose_service(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge that spreads requests over the serving pods, by composition resource name."""
    site, ports = instance.site, {requests_port(engine) for engine in spec.engines}
    # Engines on different ports have one name for them (`validation`).
    port = ports.pop() if len(ports) == 1 else engine_port(spec.engines[0].serving.container).name
    front = service(
        instance.name, site.namespace, instance.labels, selector={LABEL_SERVING: instance.replica}, target=port
    )
    return {"service": site.place(front), **_route(instance, service_backend(instance.name))}


def compose_pool(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge where an endpoint picker chooses the pod, by composition resource name.

    One route leads to the InferencePool. Envoy AI Gateway asks the picker once for each route to a pool, whichever
    route a request takes, and if it is asked twice, a dead picker results in 500 instead of 503
    (https://github.com/envoyproxy/ai-gateway/pull/2595).
    """
    site, picker, selector = instance.site, compose_picker(instance, spec), {LABEL_SERVING: instance.replica}
    pool = inference_pool(
        instance.name,
        site.namespace,
        instance.labels,
        selector=selector,
        picker=picker.name,
        port=requests_port(spec.engines[0]),
    )
    return {**picker.objects, "inferencepool": site.place(pool), **_route(instance, pool_backend(instance.name))}
