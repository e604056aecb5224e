"""The ResourceClaimTemplate through which each pod of a member claims its devices (`resource.k8s.io/v1`)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.model.names import workload_name


def _request(request: Mapping[str, Any]) -> dict[str, Any]:
    exactly = {"deviceClassName": request["deviceClassName"], "count": request.get("count", 1)}
    selectors = [{"cel": {"expression": selector["cel"]}} for selector in request.get("selectors") or ()]
    return {"name": request["name"], "exactly": exactly | ({"selectors": selectors} if selectors else {})}


def claim_template(
    prefix: str, namespace: str, labels: Mapping[str, str], requests: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the template in `namespace` for the member's `deviceRequests`.

    Its spec is immutable, so its name is `prefix` and a hash of the content: other content is another template.
    """
    devices = {"requests": [_request(request) for request in requests]}
    content = json.dumps(devices, sort_keys=True)
    name = workload_name(prefix, namespace, prefix, content)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {"spec": {"devices": devices}},
    }
