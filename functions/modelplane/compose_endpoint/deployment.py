"""Composes the ModelEndpoints of a ModelDeployment, one for each of its replicas.

An endpoint is composed once the replica's cluster has a gateway address, and exists as long as its replica: a cluster
that loses its address, or a replica that is no longer Ready, changes at most `spec.ready`.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.composing.hold import held
from modelplane.composing.placement_message import PlacementMessage, read_placements
from modelplane.model.conditions import Status
from modelplane.model.names import (
    API_VERSION,
    LABEL_CLUSTER,
    LABEL_DEPLOYMENT,
    LABEL_REPLICA_INDEX,
    replica_hostname,
)
from modelplane.model.routing import Copies
from modelplane.observed.endpoint import is_composed
from modelplane.observed.fields import mapping, text
from modelplane.observed.replica import ready_status, serving_copies
from modelplane.observed.served_name import served_model
from modelplane.step import Desired, Manifest, Object, Request, Result


def _url(address: str) -> str:
    """Return the root URL of a cluster's gateway, whose only listener is HTTPS; an IPv6 address is bracketed."""
    return f"https://[{address}]" if ":" in address else f"https://{address}"


def _last(endpoint: Object | None) -> Mapping[str, Any]:
    """Return the last composed spec, {} for none.

    Crossplane also lists objects without a controller, so a hand-written endpoint may be in its place.
    """
    return mapping(endpoint.body.get("spec")) if endpoint and is_composed(endpoint) else {}


def _ready(replica: Object | None, endpoint: Object | None) -> bool:
    """Return whether the replica may take traffic: whether it is Ready, or the last value while that is unknown."""
    status = ready_status(replica) if replica else ""
    if status in (Status.TRUE, Status.FALSE):
        return status == Status.TRUE
    return _last(endpoint).get("ready") is True


def _hop(placement: PlacementMessage, endpoint: Object | None) -> dict[str, Any]:
    """Return how the cluster's gateway is reached, or the last value while that is not known; empty without one."""
    if placement.address:
        url, mutual_tls = _url(placement.address), placement.mutual_tls
    else:
        url, mutual_tls = text(_last(endpoint).get("url")), _last(endpoint).get("mutualTLS") is True
    return {"url": url, **({"mutualTLS": True} if mutual_tls else {})} if url else {}


def _model(replica: Object | None, endpoint: Object | None) -> dict[str, str]:
    """Return the name under which the replica serves, or the last one while that is not known; {} without one."""
    model = served_model(replica) if replica else text(_last(endpoint).get("model"))
    return {"model": model} if model else {}


def _copies(replica: Object | None, endpoint: Object | None) -> dict[str, str]:
    """Return how many copies of a Ready replica serve, or the last value while that is not known; {} for all."""
    status = ready_status(replica) if replica else ""
    if replica and status == Status.TRUE:
        copies: str = serving_copies(replica)
    else:
        copies = text(_last(endpoint).get("copies"))
    return {"copies": copies} if copies not in ("", Copies.ALL) else {}


def _manifest(deployment: Object, placement: PlacementMessage, varying: Mapping[str, Any]) -> Manifest:
    """Return the endpoint; `varying` are the fields of its spec that depend on its cluster and replica."""
    own = {
        LABEL_DEPLOYMENT: deployment.name,
        LABEL_CLUSTER: placement.cluster,
        LABEL_REPLICA_INDEX: str(placement.index),
    }
    labels: Mapping[str, Any] = mapping(mapping(deployment.body.get("spec")).get("replicaLabels"))
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelEndpoint",
        "metadata": {"name": placement.name, "namespace": deployment.namespace, "labels": {**labels, **own}},
        "spec": {
            **varying,
            "host": replica_hostname(placement.name, deployment.namespace, placement.cluster),
            **({"leaving": True} if placement.ending else {}),
        },
    }


def _desired(request: Request, placement: PlacementMessage) -> Desired | None:
    """Return the endpoint of a placement, None while its cluster has never had an address."""
    deployment, endpoint = request.composite, request.observed.get(placement.endpoint)
    hop = _hop(placement, endpoint)
    if not hop:
        return Desired.of(held(endpoint.body), ready=True) if endpoint and is_composed(endpoint) else None
    replica = request.observed.get(placement.resource)
    taking = {"ready": _ready(replica, endpoint), **_copies(replica, endpoint)}
    varying = {**hop, **taking, **_model(replica, endpoint)}
    return Desired(
        build=lambda: _manifest(deployment, placement, varying),
        ready=endpoint is not None,
        key=("ModelEndpoint", deployment.key, placement.identity, *varying.items()),
    )


def compose(request: Request) -> Result:
    """Return the ModelEndpoints of the deployment's placements; fatal when no scheduling step ran before."""
    placements = read_placements(request)
    if placements is None:
        return Result(fatal="ModelDeployment: no placements in the pipeline context; run the step schedule first")
    endpoints = ((placement.endpoint, _desired(request, placement)) for placement in placements)
    return Result(desired={name: desired for name, desired in endpoints if desired is not None})
