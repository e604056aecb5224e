"""The edge of a replica: how requests come from its cluster's gateway to its serving pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.cluster_hold import KEEPER
from modelplane.compose_replica.engine_pods import requests_port
from modelplane.compose_replica.handover import POOL_BY_PATH
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.picker import compose_picker
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.kube.gateway.route import host_route, path_route
from modelplane.kube.inference_pool import inference_pool, pool_backend
from modelplane.kube.service import service, service_backend
from modelplane.model.names import LABEL_SERVING, workload_name
from modelplane.observed.engine_port import engine_port


def _by_path(instance: Instance) -> str:
    """Return the name of the objects through which older manifests reach the replica."""
    return workload_name(f"{instance.replica}-path", instance.site.team, instance.replica, "edge", "path")


def _routes(
    instance: Instance, backend: Mapping[str, Any], backend_by_path: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the Objects of the routes to a backend: by the replica's host and, for older manifests, by path.

    The first one keeps the InferenceCluster from being deleted; it stays until an ending replica's pods are gone.
    """
    site, path = instance.site, f"/{instance.site.team}/{instance.replica}"
    host = host_route(instance.name, site.namespace, instance.labels, hostname=instance.hostname, backend=backend)
    older = path_route(_by_path(instance), site.namespace, instance.labels, path=path, backend=backend_by_path)
    return {KEEPER: site.place_keeping_cluster(host), "httproute-path": site.place(older)}


def compose_service(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge that spreads requests over the serving pods, by composition resource name."""
    site, ports = instance.site, {requests_port(engine) for engine in spec.engines}
    # Engines on different ports have one name for them (`validation`).
    port = ports.pop() if len(ports) == 1 else engine_port(spec.engines[0].serving.container).name
    front = service(
        instance.name, site.namespace, instance.labels, selector={LABEL_SERVING: instance.replica}, target=port
    )
    backend = service_backend(instance.name)
    return {"service": site.place(front), **_routes(instance, backend, backend)}


def compose_pool(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge where an endpoint picker chooses the pod, by composition resource name.

    Each route has an InferencePool of its own, with the same pods and picker. Envoy AI Gateway asks the picker once for
    each route to a pool, whichever route a request takes, and if it is asked twice, a dead picker results in 500
    instead of 503 (https://github.com/envoyproxy/ai-gateway/pull/2595).
    """
    site, picker, selector = instance.site, compose_picker(instance, spec), {LABEL_SERVING: instance.replica}
    names, port = {"inferencepool": instance.name, POOL_BY_PATH: _by_path(instance)}, requests_port(spec.engines[0])
    pools = {
        resource: site.place(
            inference_pool(name, site.namespace, instance.labels, selector=selector, picker=picker.name, port=port)
        )
        for resource, name in names.items()
    }
    return {**picker.objects, **pools, **_routes(instance, *map(pool_backend, names.values()))}
