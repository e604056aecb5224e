"""The requirements that several steps have: each with one key and one selection, so that they are fetched once."""

from collections.abc import Mapping, Sequence

from modelplane.kube.certificate import CERTIFICATE_API
from modelplane.kube.gateway.kinds import ENVOY_API, GATEWAY_API
from modelplane.kube.object import PROVIDER_API
from modelplane.model.names import (
    API_VERSION,
    EJECTIONS,
    GROUP,
    INFERENCE_GATEWAY,
    INSTALLATION,
    LABEL_CERTIFICATE,
    LABEL_CLUSTER,
    LABEL_CLUSTER_UID,
    LABEL_DEPLOYMENT,
    LABEL_MODEL,
    LABEL_NAMESPACE_NAME,
    LABEL_NETWORK,
    LABEL_SHARES_UID,
    OF_AUTHORITY,
    OF_PAIR,
    SYSTEM_NAMESPACE,
    digest,
)
from modelplane.model.observation import Gap
from modelplane.observed.fields import is_true, mapping, mappings
from modelplane.observed.fields import labels as labels_of
from modelplane.step import Object, Request, Requirement, SchemaRequirement

#: One small kind of each API group of the control cluster's gateway, which stands for all kinds of the group.
GATEWAY_KINDS = (
    SchemaRequirement("gateway-api", GATEWAY_API, "GatewayClass"),
    SchemaRequirement("envoy-gateway", ENVOY_API, "Backend"),
)
#: One small kind of cert-manager, which issues the certificates of the hops to clusters.
CERTIFICATE_KINDS = (SchemaRequirement("cert-manager", CERTIFICATE_API, "Issuer"),)
_DEFINITION_API = "apiextensions.k8s.io/v1"
#: API groups that every control cluster has: of Kubernetes, of Crossplane, ours, and of the Configuration's dependency.
_CERTAIN = {"", "apps", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "protection.crossplane.io"}
_CERTAIN |= {GROUP, PROVIDER_API.partition("/")[0]}
#: The plural of each of these kinds, which its definition is named by; of another one it is regular.
_PLURALS = {"GatewayClass": "gatewayclasses", "Backend": "backends", "Issuer": "issuers"}
_RESIDENTS = "residents-"
_CLUSTER = "cluster-"
_INSTALL = {
    **dict.fromkeys(GATEWAY_KINDS, "Install Envoy Gateway and its CRDs."),
    **dict.fromkeys(CERTIFICATE_KINDS, "Install cert-manager and its CRDs."),
}


def cluster(name: str) -> Requirement:
    """Return the requirement of an InferenceCluster."""
    return Requirement(f"{_CLUSTER}{name}", API_VERSION, "InferenceCluster", match_name=name)


def clusters(labels: Mapping[str, str]) -> Requirement:
    """Return the requirement of the InferenceClusters that carry all `labels`."""
    return Requirement("clusters", API_VERSION, "InferenceCluster", match_labels=labels)


def marked_configs(uid: str) -> Requirement:
    """Return the requirement of the ClusterProviderConfigs that are marked with a cluster's uid."""
    return Requirement("same-cluster", PROVIDER_API, "ClusterProviderConfig", match_labels={LABEL_CLUSTER_UID: uid})


def sharing_configs(uid: str) -> Requirement:
    """Return the requirement of the ClusterProviderConfigs of the InferenceClusters that share a cluster by its uid."""
    return Requirement("sharing-cluster", PROVIDER_API, "ClusterProviderConfig", match_labels={LABEL_SHARES_UID: uid})


def same_network(network: str) -> Requirement:
    """Return the requirement of the ManagedClusters whose network has these addresses (CIDR)."""
    labels = {LABEL_NETWORK: network.partition("/")[0]}
    return Requirement("same-network", API_VERSION, "ManagedCluster", match_labels=labels, namespace=SYSTEM_NAMESPACE)


def inference_class(name: str) -> Requirement:
    """Return the requirement of an InferenceClass."""
    return Requirement(f"class-{name}", API_VERSION, "InferenceClass", match_name=name)


def cluster_model(name: str) -> Requirement:
    """Return the requirement of a ClusterModel."""
    return Requirement("model", API_VERSION, "ClusterModel", match_name=name)


def model_replicas(model: str) -> Requirement:
    """Return the requirement of the ModelReplicas that run on a profile of a ClusterModel, of all namespaces."""
    return Requirement("replicas", API_VERSION, "ModelReplica", match_labels={LABEL_MODEL: model})


def cache(name: str, namespace: str) -> Requirement:
    """Return the requirement of a ModelCache of the namespace."""
    return Requirement("cache", API_VERSION, "ModelCache", match_name=name, namespace=namespace)


def residents(cluster: str) -> Requirement:
    """Return the requirement of the ModelReplicas labelled with a cluster, of all namespaces."""
    return Requirement(f"{_RESIDENTS}{cluster}", API_VERSION, "ModelReplica", match_labels={LABEL_CLUSTER: cluster})


def fetched_residents(request: Request) -> frozenset[str]:
    """Return the clusters whose ModelReplicas a request has."""
    return frozenset(name.removeprefix(_RESIDENTS) for name in request.required if name.startswith(_RESIDENTS))


def fetched_clusters(request: Request) -> frozenset[str]:
    """Return the clusters that a request has by name."""
    return frozenset(name.removeprefix(_CLUSTER) for name in request.required if name.startswith(_CLUSTER))


def siblings(deployment: str, namespace: str) -> Requirement:
    """Return the requirement of the ModelReplicas labelled with a deployment of the namespace."""
    labels = {LABEL_DEPLOYMENT: deployment}
    return Requirement("siblings", API_VERSION, "ModelReplica", match_labels=labels, namespace=namespace)


def team_replicas(namespace: str) -> Requirement:
    """Return the requirement of all ModelReplicas of a namespace: one written by hand may carry no label."""
    return Requirement("replicas", API_VERSION, "ModelReplica", namespace=namespace)


def namespace_labels(request: Request, name: str) -> Mapping[str, str] | Gap:
    """Return the labels of a namespace, NOT_FETCHED if they are not known yet.

    Kubernetes labels each namespace with its name, so a namespace that is missing in a preview's input has that label.
    """
    found = request.one(namespace(name))
    if found is Gap.NOT_FETCHED:
        return Gap.NOT_FETCHED
    known = labels_of(found) if isinstance(found, Object) else {}
    return {LABEL_NAMESPACE_NAME: name, **known}


def source(kind: str, name: str, namespace: str) -> Requirement:
    """Return the requirement of a Secret or ConfigMap of the namespace."""
    return Requirement(f"source-{kind}-{name}", "v1", kind, match_name=name, namespace=namespace)


def definitions(request: Request, kinds: Sequence[SchemaRequirement] = GATEWAY_KINDS) -> tuple[Requirement, ...]:
    """Return the requirements of the CustomResourceDefinitions of those kinds that have no schema.

    Crossplane keeps what it has read of a group's schemas until any definition changes, at most an hour. Read while the
    definitions are installed, a schema is missing there though its kind exists. The definitions themselves are watched.
    They are large, and all of a cluster are then held in Crossplane's memory: with a schema they are not asked for.
    """
    return tuple(_definition(each) for each in kinds if each.name in request.schemas and not request.schemas[each.name])


def _definition(kind: SchemaRequirement) -> Requirement:
    name = f"{_PLURALS.get(kind.kind, f'{kind.kind.lower()}s')}.{kind.api_version.partition('/')[0]}"
    return Requirement(f"definition-{kind.name}", _DEFINITION_API, "CustomResourceDefinition", match_name=name)


def _is_served(definition: Object, kind: SchemaRequirement) -> bool:
    """Tell whether a definition is established with the version of a kind."""
    version = kind.api_version.rpartition("/")[2]
    versions = mapping(definition.body.get("spec")).get("versions")
    served = {each.get("name") for each in mappings(versions) if each.get("served") is True}
    return version in served and is_true(definition, "Established")


def missing_kinds(
    request: Request, kinds: Sequence[SchemaRequirement] = GATEWAY_KINDS, install: str = ""
) -> str | None:
    """Return which of these kinds the control cluster lacks and what to do, "" for none; None while it is not known.

    `install` says what to do about kinds that are not known here.

    A kind exists that has a schema or, without one, an established definition (`definitions`).
    """
    found = {each: request.one(_definition(each)) for each in kinds if not request.schemas.get(each.name)}
    if any(each.name not in request.schemas for each in kinds) or Gap.NOT_FETCHED in found.values():
        return None
    missing = [each for each, one in found.items() if not (isinstance(one, Object) and _is_served(one, each))]
    named = " and ".join(f"{each.kind} ({each.api_version})" for each in missing)
    installed = " ".join(dict.fromkeys(_INSTALL.get(each, install) for each in missing))
    return f"the control cluster has no kind {named}. {installed}" if missing else ""


def is_certain(api_version: str) -> bool:
    """Tell whether every control cluster has the kinds of an API group: it needs no `missing_kinds`."""
    group, slash, _ = api_version.partition("/")
    return (group if slash else "") in _CERTAIN


def inference_gateway() -> Requirement:
    """Return the requirement of the InferenceGateway."""
    return Requirement("gateway", API_VERSION, "InferenceGateway", match_name=INFERENCE_GATEWAY)


def installation() -> Requirement:
    """Return the requirement of the ConfigMap with the id of this installation."""
    return Requirement("installation", "v1", "ConfigMap", match_name=INSTALLATION, namespace=SYSTEM_NAMESPACE)


def ejections() -> Requirement:
    """Return the requirement of the ConfigMap that says what the public gateway has ejected."""
    return Requirement("ejections", "v1", "ConfigMap", match_name=EJECTIONS, namespace=SYSTEM_NAMESPACE)


def authorities() -> Requirement:
    """Return the requirement of the Secret of the CA that signs the hops' certificates."""
    labels = {LABEL_CERTIFICATE: OF_AUTHORITY}
    return Requirement("authorities", "v1", "Secret", match_labels=labels, namespace=SYSTEM_NAMESPACE)


def pairs() -> Requirement:
    """Return the requirement of the Secrets of the key pairs that the CA has signed."""
    labels = {LABEL_CERTIFICATE: OF_PAIR}
    return Requirement("pairs", "v1", "Secret", match_labels=labels, namespace=SYSTEM_NAMESPACE)


def namespace(name: str) -> Requirement:
    """Return the requirement of a namespace of the control cluster."""
    return Requirement(f"namespace-{name}", "v1", "Namespace", match_name=name)


def services() -> Requirement:
    """Return the requirement of all ModelServices, of all namespaces."""
    return Requirement("services", API_VERSION, "ModelService")


def endpoints(namespace: str, labels: Mapping[str, str]) -> Requirement:
    """Return the requirement of the ModelEndpoints of a namespace that carry all `labels`."""
    key = digest(*(part for pair in sorted(labels.items()) for part in pair))
    return Requirement(f"endpoints-{key}", API_VERSION, "ModelEndpoint", match_labels=labels, namespace=namespace)
