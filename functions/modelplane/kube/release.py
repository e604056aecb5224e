"""The objects of provider-helm: the Release of a chart on a cluster, and the ProviderConfig that reaches it."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.kube.charts import chart_spec
from modelplane.model.names import ANNOTATION_EXTERNAL_NAME, OBSERVE_ONLY, SYSTEM_NAMESPACE
from modelplane.stack import Chart
from modelplane.stack.releases import ROLLBACK_LIMIT

HELM_API: Final = "helm.m.crossplane.io/v1beta1"
#: Never deleted: what a release has made serves on, and a cluster that does not answer can be let go.
INSTALLING: Final = ("Observe", "Create", "Update")
#: Revisions that Helm keeps of a release, each in a Secret.
_HISTORY: Final = 3
#: Longest that a hook of a chart may take. The provider's token may be good for 5 minutes only. It is written as the
#: provider writes it: another spelling would be another version of the Release with each of its writes and ours.
_HOOKS_TIMEOUT: Final = "4m0s"


def helm_config(name: str, *, credentials: Mapping[str, Any], identity: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the ProviderConfig with a kubeconfig as `credentials` and, where that carries none, a cloud `identity`."""
    spec = {"credentials": credentials} | ({"identity": identity} if identity else {})
    metadata = {"name": name, "namespace": SYSTEM_NAMESPACE}
    return {"apiVersion": HELM_API, "kind": "ProviderConfig", "metadata": metadata, "spec": spec}


def release(chart: Chart, *, config: str, install: bool, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Release of a chart; without `install` it only observes what the cluster has under its name.

    It does not wait for pods (the provider leaves out the field `wait` if that is false): what runs is read from the
    workloads, and a slow image would make Helm begin anew.
    """
    for_provider: dict[str, Any] = {
        "chart": chart_spec(chart),
        "namespace": chart.namespace,
        "waitTimeout": _HOOKS_TIMEOUT,
        "maxHistory": _HISTORY,
    }
    if values:
        for_provider["values"] = values
    return {
        "apiVersion": HELM_API,
        "kind": "Release",
        "metadata": {"namespace": SYSTEM_NAMESPACE, "annotations": {ANNOTATION_EXTERNAL_NAME: chart.release}},
        "spec": {
            "forProvider": for_provider,
            "managementPolicies": list(INSTALLING if install else OBSERVE_ONLY),
            "providerConfigRef": {"kind": "ProviderConfig", "name": config},
            "rollbackLimit": ROLLBACK_LIMIT,
        },
    }
