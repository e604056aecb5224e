"""A managed resource of a cloud's provider."""

from collections.abc import Mapping
from typing import Any

from modelplane.clouds import Managed
from modelplane.model.names import SYSTEM_NAMESPACE


def managed_resource(managed: Managed, *, config: Mapping[str, str]) -> dict[str, Any]:
    """Return the managed resource; `config` (kind and name) is the provider's config that it is made by."""
    spec: dict[str, Any] = {
        "forProvider": dict(managed.for_provider),
        "managementPolicies": list(managed.policies),
        "providerConfigRef": dict(config),
    }
    if managed.init_provider:
        spec["initProvider"] = dict(managed.init_provider)
    if managed.secret:
        spec["writeConnectionSecretToRef"] = {"name": managed.secret}
    return {
        "apiVersion": managed.kind.api_version,
        "kind": managed.kind.kind,
        "metadata": {"name": managed.name, "namespace": SYSTEM_NAMESPACE},
        "spec": spec,
    }
