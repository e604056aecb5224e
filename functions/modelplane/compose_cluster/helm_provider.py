"""Whether provider-helm can be used: its kinds exist, and it acts on them."""

from typing import Final

from modelplane.compose_cluster.provider_check import ProviderCheck, Unusable
from modelplane.kube.release import HELM_API
from modelplane.observed.release import read_release
from modelplane.step import Requirement, SchemaRequirement

KINDS: Final = (
    SchemaRequirement("helm-release", HELM_API, "Release"),
    SchemaRequirement("helm-config", HELM_API, "ProviderConfig"),
)
#: The Provider under the name that Crossplane gives it as a dependency of the Configuration.
PROVIDER: Final = "upbound-provider-helm"
_CHECK: Final = ProviderCheck(
    called="provider-helm",
    kinds=KINDS,
    main="Release",
    install="Install provider-helm: kubectl apply -k install/",
    provider=Requirement("provider-helm", "pkg.crossplane.io/v1", "Provider", match_name=PROVIDER),
    definition=Requirement(
        "helm-release-definition",
        "apiextensions.crossplane.io/v1alpha1",
        "ManagedResourceDefinition",
        match_name="releases.helm.m.crossplane.io",
    ),
    acted=lambda found: read_release(found).acted,
)
requirements = _CHECK.requirements
unusable = _CHECK.unusable

__all__ = ["KINDS", "PROVIDER", "Unusable", "requirements", "unusable"]
