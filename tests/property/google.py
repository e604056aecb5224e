"""The real definitions of provider-gcp and of Terraform's provider behind it, and what of a manifest they refuse.

The module is of v1.14.0, the newest that can be fetched. Its kinds are of the cluster and have no `.m.` in their group.
Of those that are composed here, v3.0.0 has the same fields in its namespaced ones, but for those in `LATER`.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
import yaml

from modelplane.preview.openapi import validator
from modelplane_dev.components.sources import gcp_provider

Schema = dict[str, Any]
Manifest = dict[str, Any]
#: Fields that v3.0.0 has and v1.14.0 has not, by kind.
LATER: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "Cluster": (
        ("controlPlaneEndpointsConfig",),
        ("maintenancePolicy", "maintenanceExclusion", "*", "exclusionOptions", "endTimeBehavior"),
    ),
}
#: Arguments that Terraform's provider of v1.14.0 requires and that of v3.0.0 does not.
NO_LONGER = frozenset({"maintenance_policy.maintenance_exclusion.end_time"})
#: What a namespaced managed resource has no more.
_GONE = ("deletionPolicy", "publishConnectionDetailsTo", "writeConnectionSecretToRef", "providerConfigRef")
_NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
_CONFIG = {
    "type": "object",
    "required": ["kind", "name"],
    "properties": {"kind": {"type": "string"}, "name": {"type": "string"}},
}
#: Terraform's name of each kind that is composed, and what of its required arguments is the external name.
TERRAFORM: Mapping[str, tuple[str, frozenset[str]]] = {
    "Network": ("google_compute_network", frozenset({"name"})),
    "Subnetwork": ("google_compute_subnetwork", frozenset({"name"})),
    "ProjectService": ("google_project_service", frozenset()),
    "ServiceAccount": ("google_service_account", frozenset({"account_id"})),
    "ServiceAccountKey": ("google_service_account_key", frozenset()),
    "ProjectIAMMember": ("google_project_iam_member", frozenset()),
    "Cluster": ("google_container_cluster", frozenset({"name"})),
    "NodePool": ("google_container_node_pool", frozenset()),
}


@cache
def checker(api_version: str, kind: str) -> jsonschema_rs.Draft202012Validator:
    """Return what validates the spec of a kind strictly, without fields that its definition does not have."""
    group = api_version.partition("/")[0].replace(".m.upbound.io", ".upbound.io")
    file = gcp_provider() / "package" / "crds" / f"{group}_{kind.lower()}s.yaml"
    definition = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
    versions = {each["name"]: each for each in definition["spec"]["versions"]}
    newest = versions.get("v1beta2") or versions["v1beta1"]
    spec = newest["schema"]["openAPIV3Schema"]["properties"]["spec"]
    fields = {name: each for name, each in spec["properties"].items() if name not in _GONE}
    fields |= {"providerConfigRef": _CONFIG, "writeConnectionSecretToRef": _NAMED}
    return validator(_closed({**spec, "required": ["forProvider", "providerConfigRef"], "properties": fields}))


def _closed(schema: Any) -> Any:
    """Return a schema that refuses fields which it does not name."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(each) if key != "enum" else each for key, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed["additionalProperties"] = False
    return closed


def without_later(kind: str, fields: Manifest) -> Manifest:
    """Return `forProvider` without what v1.14.0 does not have."""
    for path in LATER.get(kind, ()):
        fields = _without(fields, path)
    return fields


def _without(value: Any, path: tuple[str, ...]) -> Any:
    first, *rest = path
    if first == "*":
        return [_without(each, tuple(rest)) for each in value]
    if not isinstance(value, dict) or first not in value:
        return value
    if not rest:
        return {key: each for key, each in value.items() if key != first}
    return {**value, first: _without(value[first], tuple(rest))}


def refusals(body: Manifest) -> list[str]:
    """Return what the real definition refuses of a managed resource, each with its place."""
    spec = {**body["spec"], "forProvider": without_later(body["kind"], body["spec"]["forProvider"])}
    found = checker(body["apiVersion"], body["kind"]).iter_errors(spec)
    return [f"{'.'.join(map(str, each.instance_path))}: {each.message}" for each in found]


@cache
def _blocks() -> Mapping[str, Schema]:
    schema = json.loads((gcp_provider() / "config" / "schema.json").read_text())
    (provider,) = schema["provider_schemas"].values()
    found: Mapping[str, Schema] = {name: each["block"] for name, each in provider["resource_schemas"].items()}
    return found


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def missing_arguments(body: Manifest) -> list[str]:
    """Return the arguments that Terraform requires and a managed resource does not have, by itself or by reference."""
    name, external = TERRAFORM[body["kind"]]
    given = {**body["spec"].get("initProvider", {}), **body["spec"]["forProvider"]}
    return [each for each in _missing(_blocks()[name], given, "") if each not in external | NO_LONGER]


def _missing(block: Schema, given: Mapping[str, Any], place: str) -> Iterator[str]:
    for name, each in block.get("attributes", {}).items():
        field = _camel(name)
        if each.get("required") and field not in given and f"{field}Ref" not in given:
            yield f"{place}{name}"
    for name, nested in block.get("block_types", {}).items():
        value = given.get(_camel(name))
        if value is None:
            if nested.get("min_items"):
                yield f"{place}{name}"
            continue
        for each in value if isinstance(value, list) else [value]:
            yield from _missing(nested["block"], each, f"{place}{name}.")
