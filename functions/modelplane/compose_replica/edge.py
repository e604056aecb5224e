"""The edge of a Unified replica: one Service over its serving pods, and the routes of its cluster's gateway to it."""

from typing import Any

from modelplane.compose_replica.site import Site
from modelplane.kube.route import host_route, path_route
from modelplane.kube.service import service
from modelplane.model.names import LABEL_SERVING


def compose(site: Site) -> dict[str, dict[str, Any]]:
    """Return the Objects of the edge by composition resource name."""
    where = (site.name, site.namespace, site.labels)
    by_path = (f"{site.name}-path", site.namespace, site.labels)
    path = f"/{site.team}/{site.replica}"
    manifests = {
        "service": service(*where, selector={LABEL_SERVING: site.replica}),
        "httproute": host_route(*where, hostname=site.hostname, service=site.name),
        "httproute-path": path_route(*by_path, path=path, service=site.name),
    }
    return {resource: site.place(manifest) for resource, manifest in manifests.items()}
