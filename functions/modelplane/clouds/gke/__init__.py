"""Google Kubernetes Engine, by Upbound's provider-gcp from v3 on."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.clouds.cloud import Account, Asked, Cloud, Facts, Key, Plan, Seen
from modelplane.clouds.gke import cluster as gke_cluster
from modelplane.clouds.gke import identity, kinds, limits, network, pools, storage, words

#: Pods of engines on a node: of the 110 that it takes, Google's own DaemonSets and Modelplane's have some.
_PODS: Final = pools.PODS - 20
_FACTS: Final = Facts(driver_root="/home/kubernetes/bin/nvidia", pods=_PODS)


class _Gke:
    block = "gke"
    provider = "provider-gcp-container"
    main = kinds.CLUSTER
    kinds = kinds.ALL

    def account(self, settings: Mapping[str, Any]) -> Account:
        """Return where the project is found."""
        credentials = settings.get("credentials") or {}
        kind = kinds.PROVIDER_CONFIG if credentials.get("type") == "ProviderConfig" else kinds.CLUSTER_PROVIDER_CONFIG
        return Account(kind, str(credentials.get("name") or "default"), "projectID", "the project of Google Cloud")

    def network(self, cluster: str, settings: Mapping[str, Any]) -> str:
        """Return the network that is made, "" where one is brought."""
        return network.addresses(cluster, settings)

    def plan(self, asked: Asked, seen: Mapping[str, Seen]) -> Plan:
        """Return what is composed for a cluster."""
        node_pools = pools.plan(asked, seen)
        resources = {
            **network.resources(asked, seen),
            **storage.resources(asked),
            **identity.resources(asked),
            gke_cluster.RESOURCE: gke_cluster.resource(asked, seen.get(gke_cluster.RESOURCE)),
            **node_pools.resources,
        }
        made, key = seen.get(gke_cluster.RESOURCE), seen.get(identity.ACCOUNT_KEY)
        up = bool(made and made.ready and key and key.ready)
        return Plan(
            resources=resources,
            pools=node_pools.reports,
            kubeconfig=Key(gke_cluster.name(asked), "kubeconfig") if up else None,
            identity=identity.of_providers(asked) if up else None,
            storage_class=storage.CLASS,
            facts=_FACTS,
            inside={**storage.inside(asked), **pools.inside()} if up else {},
            waits=words.waits(resources, seen) if not up else (),
            refused=limits.refused(asked),
        )


GKE: Final[Cloud] = _Gke()
