"""Names of the parts of a ModelService or ModelEndpoint: what exists keeps its name, whichever version has chosen it.

A renamed object would be made anew, and its route with it. New names end in a hash that policies of install/ reserve.
"""

from modelplane.model.names import endpoint_object, service_object
from modelplane.step import Request


def service_part(request: Request, part: str) -> str:
    """Return the name of the object that a ModelService composes under a composition resource name."""
    found, service = request.observed.get(part), request.composite
    return found.name if found else service_object(service.name, service.namespace, part)


def endpoint_part(request: Request, part: str) -> str:
    """Return the name of the object that a ModelEndpoint composes under a composition resource name."""
    found, endpoint = request.observed.get(part), request.composite
    return found.name if found else endpoint_object(endpoint.name, endpoint.namespace, part)
