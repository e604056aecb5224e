"""The edge of a replica: how requests come from its cluster's gateway to its serving pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.engine_pods import requests_port
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.picker import compose_picker
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.kube.inference_pool import inference_pool, pool_backend
from modelplane.kube.pod import PORT_NAME
from modelplane.kube.route import host_route, path_route
from modelplane.kube.service import service, service_backend
from modelplane.model.names import LABEL_SERVING, workload_name


def _routes(instance: Instance, backend: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the Objects of the routes to a backend, by the replica's host and, for older manifests, by path.

    The first keeps the InferenceCluster: of a replica that ends it stays until the pods have gone.
    """
    site, path = instance.site, f"/{instance.site.team}/{instance.replica}"
    by_path = workload_name(f"{instance.replica}-path", site.team, instance.replica, "edge", "path")
    host = host_route(instance.name, site.namespace, instance.labels, hostname=instance.hostname, backend=backend)
    return {
        "httproute": site.place_keeping_cluster(host),
        "httproute-path": site.place(path_route(by_path, site.namespace, instance.labels, path=path, backend=backend)),
    }


def compose_service(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge that spreads requests over the serving pods, by composition resource name."""
    site, ports = instance.site, {requests_port(engine) for engine in spec.engines}
    port = ports.pop() if len(ports) == 1 else PORT_NAME
    front = service(
        instance.name, site.namespace, instance.labels, selector={LABEL_SERVING: instance.replica}, target=port
    )
    return {"service": site.place(front), **_routes(instance, service_backend(instance.name))}


def compose_pool(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge where an endpoint picker chooses the pod, by composition resource name."""
    site, picker, selector = instance.site, compose_picker(instance, spec), {LABEL_SERVING: instance.replica}
    pool = inference_pool(
        instance.name,
        site.namespace,
        instance.labels,
        selector=selector,
        picker=picker.name,
        port=requests_port(spec.engines[0]),
    )
    return {
        **picker.objects,
        "inferencepool": site.place(pool),
        **_routes(instance, pool_backend(instance.name)),
    }
