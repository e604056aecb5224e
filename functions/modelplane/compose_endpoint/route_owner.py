"""The route as an owner: what it refers to is deleted after it, when the service or endpoint of both is deleted."""

from collections.abc import Mapping
from typing import Final

from modelplane.kube.gateway.kinds import GATEWAY_API
from modelplane.step import Manifest, Request

#: Composition resource name.
ROUTE: Final = "route"


def outlive_route(request: Request, bodies: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Return objects, by composition resource name, so that Kubernetes deletes them after the observed route.

    It deletes all that is composed when the composite is deleted, in no order. The route owns the others too, and
    garbage collection takes no object that has an owner left. A Usage for each would be as many objects again.
    """
    route = request.observed.get(ROUTE)
    uid = route.metadata.get("uid") if route else None
    if route is None or not uid:
        return dict(bodies)
    owner = {"apiVersion": GATEWAY_API, "kind": "HTTPRoute", "name": route.name, "uid": uid}
    return {
        name: body if name == ROUTE else {**body, "metadata": {**body["metadata"], "ownerReferences": [owner]}}
        for name, body in bodies.items()
    }
