"""Keeps the classes that a cluster's pools name from being deleted."""

from typing import Any

from modelplane.composing import requirements as require
from modelplane.kube.usage import protected
from modelplane.model.names import API_VERSION
from modelplane.step import Object, Request


def protect(request: Request, classes: set[str]) -> dict[str, dict[str, Any]]:
    """Return the ClusterUsages of the classes in use by composition resource name.

    A class that does not exist cannot be protected; a protection that was composed stays while the class is named.
    """
    reason = f"in use by a node pool of InferenceCluster {request.composite.name}"
    resources = {name: f"class-in-use-{name}" for name in classes}
    return {
        resource: protected(API_VERSION, "InferenceClass", name, reason=reason)
        for name, resource in sorted(resources.items())
        if resource in request.observed or isinstance(request.one(require.inference_class(name)), Object)
    }
