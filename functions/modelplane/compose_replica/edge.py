"""The edge of a replica: how requests come from its cluster's gateway to its serving pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.picker import compose_picker
from modelplane.compose_replica.site import Site
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.kube.inference_pool import inference_pool, pool_backend
from modelplane.kube.route import host_route, path_route
from modelplane.kube.service import service, service_backend
from modelplane.model.names import LABEL_SERVING, workload_name


def _routes(site: Site, backend: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the Objects of the routes to a backend, by the replica's host and, for older manifests, by path."""
    path = f"/{site.team}/{site.replica}"
    by_path = workload_name(f"{site.replica}-path", site.team, site.replica, "edge", "path")
    host = host_route(site.name, site.namespace, site.labels, hostname=site.hostname, backend=backend)
    return {
        "httproute": site.place(host),
        "httproute-path": site.place(path_route(by_path, site.namespace, site.labels, path=path, backend=backend)),
    }


def compose_service(site: Site) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge that spreads requests over the serving pods, by composition resource name."""
    front = service(site.name, site.namespace, site.labels, selector={LABEL_SERVING: site.replica})
    return {"service": site.place(front), **_routes(site, service_backend(site.name))}


def compose_pool(site: Site, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return the Objects of an edge where an endpoint picker chooses the pod, by composition resource name."""
    picker = compose_picker(site, spec)
    selector = {LABEL_SERVING: site.replica}
    pool = inference_pool(site.name, site.namespace, site.labels, selector=selector, picker=picker.name)
    return {**picker.objects, "inferencepool": site.place(pool), **_routes(site, pool_backend(site.name))}
