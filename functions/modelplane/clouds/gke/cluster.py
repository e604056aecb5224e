"""The GKE cluster itself. It enforces NetworkPolicies from its first pod on, which cannot be added later."""

from typing import Any, Final

from modelplane.clouds.cloud import Asked, Managed, Seen
from modelplane.clouds.edits import get, put
from modelplane.clouds.gke import immutable, kinds, network
from modelplane.clouds.names import Limits

#: Composition resource name.
RESOURCE: Final = "cluster"
#: Of clusters and node pools.
LIMITS: Final = Limits(40)
#: The hour (UTC) at which what maintenance there is begins.
_START: Final = "03:00"


def name(asked: Asked) -> str:
    """Return the name of the cluster, and of the Secret with its kubeconfig."""
    return LIMITS.name(asked.cluster, asked.key, RESOURCE)


def _maintenance(asked: Asked) -> dict[str, Any]:
    """Return when Google may upgrade nodes by itself; by default never while the version is supported.

    An exclusion without an end lasts until the end of support of the minor version.
    """
    settings = asked.settings.get("maintenance") or {}
    window = {"dailyMaintenanceWindow": {"startTime": settings.get("start") or _START}}
    if settings.get("nodeUpgrades") == "Automatic":
        return window
    options = {"scope": "NO_MINOR_OR_NODE_UPGRADES", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"}
    exclusion = {"exclusionName": "modelplane", "startTime": asked.since, "exclusionOptions": options}
    return {**window, "maintenanceExclusion": [exclusion]}


def _access(asked: Asked) -> dict[str, Any]:
    """Return who reaches the API server: the listed networks, everybody, or whoever Google lets use its DNS name."""
    if asked.settings.get("apiAccess") == "DNS":
        return {
            "controlPlaneEndpointsConfig": {
                "dnsEndpointConfig": {"allowExternalTraffic": True},
                "ipEndpointsConfig": {"enabled": False},
            }
        }
    listed = asked.settings.get("apiAccessCIDRs")
    if not listed:
        return {}
    return {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": each} for each in sorted(listed)]}}


def resource(asked: Asked, seen: Seen | None) -> Managed:
    """Return the cluster; what cannot be changed of one that exists stays as it was composed."""
    fields: dict[str, Any] = {
        "location": asked.settings["region"],
        "deletionProtection": False,
        # Its own first pool, which Google always makes, goes.
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
        "minMasterVersion": asked.settings["kubernetesVersion"],
        "networkingMode": "VPC_NATIVE",
        **network.of_cluster(asked),
        "releaseChannel": {"channel": "REGULAR"},
        "datapathProvider": "ADVANCED_DATAPATH",
        "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"},
        "workloadIdentityConfig": {"workloadPool": f"{asked.account}.svc.id.goog"},
        "addonsConfig": {"gcpFilestoreCsiDriverConfig": {"enabled": True}},
        "maintenancePolicy": _maintenance(asked),
        **_access(asked),
    }
    if seen:
        for each in immutable.OF_CLUSTER:
            # What the provider has resolved of references is not composed.
            if get(fields, each.path) is not None and (before := get(seen.for_provider, each.path)) is not None:
                fields = put(fields, each.path, before)
    return Managed(kinds.CLUSTER, name(asked), fields, secret=name(asked))
