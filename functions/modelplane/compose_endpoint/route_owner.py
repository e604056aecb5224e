"""The route as an owner: the objects that it refers to are deleted after it when their composite is deleted."""

from collections.abc import Mapping
from typing import Final

from modelplane.kube.gateway.kinds import GATEWAY_API
from modelplane.step import Manifest, Request

#: Composition resource name.
ROUTE: Final = "route"


def outlive_route(request: Request, bodies: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Return objects, by composition resource name, with the observed route as an additional owner.

    When the composite is deleted, Kubernetes deletes the composed objects in no order, but none that has an owner left.
    So the route is deleted first. A Usage for each object was rejected: it would double the number of objects.
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
