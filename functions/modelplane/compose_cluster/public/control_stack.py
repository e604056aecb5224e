"""The ServingStack of the control cluster: what the InferenceGateway needs there, where Modelplane is to install it.

It is composed from the moment on that `spec.stack` sets a part to Managed, and stays. If the control cluster is one of
the fleet's clusters too, the parts there are the InferenceCluster's: two stacks would change each other's releases.
"""

from typing import Final

from modelplane.api.inferencegateway import InferenceGatewaySpec
from modelplane.compose_cluster.identity import read_uid
from modelplane.compose_cluster.stack import RESOURCE, StackReport, read_report
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.names import API_VERSION, CONTROL_CLUSTER, SYSTEM_NAMESPACE
from modelplane.model.observation import Gap
from modelplane.observed.fields import mapping
from modelplane.stack import Part
from modelplane.step import Manifest, Object, Request, Requirement

#: What the InferenceGateway needs of the control cluster.
NEEDED: Final = (Part.CERT_MANAGER, Part.GATEWAY)
_MANAGED: Final = "Managed"
_KUBE_SYSTEM: Final = require.namespace("kube-system")


def parts_of(spec: InferenceGatewaySpec) -> dict[str, str]:
    """Return how each part is to be handled."""
    chosen = spec.stack.model_dump(exclude_none=True) if spec.stack else {}
    return {str(part): chosen.get(part, "Present") for part in NEEDED}


def is_asked(request: Request, spec: InferenceGatewaySpec) -> bool:
    """Tell whether there is to be a ServingStack: what has been composed once is always composed again."""
    return RESOURCE in request.observed or _MANAGED in parts_of(spec).values()


def requirements(request: Request, spec: InferenceGatewaySpec) -> tuple[Requirement, ...]:
    """Return what tells whether the control cluster is an InferenceCluster's too."""
    if not is_asked(request, spec):
        return ()
    uid = _uid(request)
    return (_KUBE_SYSTEM, *((require.marked_configs(uid),) if uid else ()))


def bodies(request: Request, spec: InferenceGatewaySpec) -> dict[str, Manifest]:
    """Return the ServingStack; none while it is not known whose the control cluster is."""
    if not is_asked(request, spec):
        return {}
    taken = _taken(request)
    if taken is None and RESOURCE not in request.observed:
        return {}
    found = {"clusterName": CONTROL_CLUSTER, "parts": parts_of(spec)}
    held = mapping(request.observed[RESOURCE].body.get("spec")) if RESOURCE in request.observed else {}
    only = bool(taken) if taken is not None else held.get("observeOnly") is True
    return {
        RESOURCE: {
            "apiVersion": API_VERSION,
            "kind": "ServingStack",
            "metadata": {"name": CONTROL_CLUSTER, "namespace": SYSTEM_NAMESPACE},
            "spec": found | ({"observeOnly": True} if only else {}),
        }
    }


def read(request: Request, spec: InferenceGatewaySpec) -> StackReport | None:
    """Return what the ServingStack says, None where none is asked for."""
    if not is_asked(request, spec):
        return None
    seen = request.observed.get(RESOURCE)
    return read_report(seen) if seen else StackReport()


def is_usable(report: StackReport) -> bool:
    """Tell whether all that the InferenceGateway needs runs."""
    return report.usable >= frozenset(NEEDED)


def words(request: Request, report: StackReport) -> str:
    """Return what the control cluster waits for, and what to do if an InferenceCluster has it."""
    holder = _taken(request)
    there = (
        f"InferenceCluster {holder} has the control cluster too, and its parts are that one's: set certManager and "
        f"gateway in spec.stack of InferenceCluster {holder}"
        if holder
        else ""
    )
    return sentences(report.message, there)


def _uid(request: Request) -> str:
    found = request.one(_KUBE_SYSTEM)
    return read_uid(mapping(found.body.get("metadata")).get("uid")) if isinstance(found, Object) else ""


def _taken(request: Request) -> str | None:
    """Return the InferenceCluster that has the control cluster, "" for none, None while that is not known.

    Only a preview has no Namespace kube-system: the control cluster is no other cluster there.
    """
    if request.one(_KUBE_SYSTEM) is Gap.ABSENT:
        return ""
    uid = _uid(request)
    found = request.all(require.marked_configs(uid)) if uid else None
    if not isinstance(found, tuple):
        return None
    return min((each.name for each in found), default="")
