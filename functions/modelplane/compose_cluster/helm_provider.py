"""Whether provider-helm can be used: its kinds exist, and it acts on them."""

from dataclasses import dataclass
from typing import Final

from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.kube.release import HELM_API
from modelplane.model.conditions import Reason
from modelplane.model.observation import Gap
from modelplane.observed.fields import condition, is_true, mapping, text
from modelplane.observed.release import read_release
from modelplane.step import Object, Request, Requirement, SchemaRequirement

KINDS: Final = (
    SchemaRequirement("helm-release", HELM_API, "Release"),
    SchemaRequirement("helm-config", HELM_API, "ProviderConfig"),
)
#: The Provider under the name that Crossplane gives it as a dependency of the Configuration.
PROVIDER: Final = "upbound-provider-helm"
_INSTALL: Final = "Install provider-helm: kubectl apply -k install/"
_PROVIDER: Final = Requirement("provider-helm", "pkg.crossplane.io/v1", "Provider", match_name=PROVIDER)
_DEFINITION: Final = Requirement(
    "helm-release-definition",
    "apiextensions.crossplane.io/v1alpha1",
    "ManagedResourceDefinition",
    match_name="releases.helm.m.crossplane.io",
)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why no Release is composed, and what to do. `lost`: Releases exist whose kind is gone, so nothing can change."""

    reason: Reason
    message: str
    lost: bool = False


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Return what has to be read to say why the provider cannot be used; nothing while it works."""
    if require.missing_kinds(request, KINDS, _INSTALL):
        return *require.definitions(request, KINDS), _PROVIDER, _DEFINITION
    return *require.definitions(request, KINDS), *((_PROVIDER,) if _idle(request) else ())


def unusable(request: Request) -> Unusable | None:
    """Return why the provider cannot be used, None if it can."""
    missing = require.missing_kinds(request, KINDS, _INSTALL)
    if missing is None:
        return Unusable(Reason.INSTALLING, "the kinds of provider-helm are not known yet")
    if not missing:
        return _unhealthy(request) if _idle(request) else None
    kinds = {each.kind for each in KINDS}
    lost = any(found.kind in kinds and found.body["apiVersion"] == HELM_API for found in request.observed.values())
    definition = request.one(_DEFINITION)
    if isinstance(definition, Object) and _is_inactive(definition):
        cause = f"ManagedResourceDefinition {definition.name} is Inactive, so the control cluster has no kind Release"
        return Unusable(Reason.KIND_INACTIVE, sentences(cause, "Activate it: kubectl apply -k install/"), lost)
    if unhealthy := _unhealthy(request):
        return Unusable(unhealthy.reason, unhealthy.message, lost)
    return Unusable(Reason.PROVIDER_MISSING, missing, lost)


def _is_inactive(definition: Object) -> bool:
    return text(mapping(definition.body.get("spec")).get("state")) == "Inactive"


def _idle(request: Request) -> bool:
    """Tell whether there is a Release that the provider has never acted on."""
    return any(found.kind == "Release" and not read_release(found).acted for found in request.observed.values())


def _unhealthy(request: Request) -> Unusable | None:
    """Return why the provider does not run, None if it does or that is not known."""
    found = request.one(_PROVIDER)
    if found is Gap.NOT_FETCHED or not isinstance(found, Object) or is_true(found, "Healthy"):
        return None
    said = text(condition(found, "Healthy").get("message")) or text(condition(found, "Installed").get("message"))
    cause = f"Provider {found.name} is not healthy: {said or 'no reason given'}"
    remedy = f"Look at it: kubectl describe provider.pkg.crossplane.io {found.name}"
    return Unusable(Reason.PROVIDER_UNHEALTHY, sentences(cause, remedy))
