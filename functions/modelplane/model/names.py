"""Every label, name, key and port that two places must agree on, each as one symbol."""

import hashlib
import re

GROUP = "modelplane.ai"
API_VERSION = f"{GROUP}/v1alpha1"

LABEL_DEPLOYMENT = f"{GROUP}/deployment"
LABEL_CLUSTER = f"{GROUP}/cluster"
LABEL_REPLICA_INDEX = f"{GROUP}/replica-index"
#: On the control cluster, on a ClusterProviderConfig: the uid of the cluster that it reaches.
LABEL_CLUSTER_UID = f"{GROUP}/cluster-uid"
#: The same on the config of an InferenceCluster that shares a cluster which another one has.
LABEL_SHARES_UID = f"{GROUP}/shares-cluster-uid"
LABEL_POOL = f"{GROUP}/pool"
#: On a ManagedCluster: the first address of the network that is made for it.
LABEL_NETWORK = f"{GROUP}/network"
#: On the GPU nodes of a cluster that is made: the type of their accelerator.
LABEL_GPU = f"{GROUP}/gpu"
#: On a ModelReplica: the revision of its deployment that is stamped on it.
LABEL_REVISION = f"{GROUP}/revision"
#: On a ModelReplica: the ClusterModel of its profile.
LABEL_MODEL = f"{GROUP}/model"
LABEL_SERVING = f"{GROUP}/serving"
LABEL_NAMESPACE = f"{GROUP}/namespace"
#: Label of namespaces on an inference cluster whose pods may reach engines despite isolation.
LABEL_REACHES_ENGINES = f"{GROUP}/reaches-engines"
#: Label of a team's namespace on an inference cluster: why it has Modelplane's NetworkPolicy (`model.fleet.Mark`).
LABEL_ISOLATED = f"{GROUP}/isolated"
#: Label of a team's namespace on an inference cluster: what its pods reach where `spec.stack.egress` is omitted, by
#: `model.fleet.Egress`. Without it they reach everything.
LABEL_EGRESS = f"{GROUP}/egress"
#: Label that Kubernetes gives each namespace.
LABEL_NAMESPACE_NAME = "kubernetes.io/metadata.name"
#: On every pod of one engine of one replica: its workload's name.
LABEL_WORKLOAD = f"{GROUP}/workload"
#: On the pods of an endpoint picker, with its name: no engine's pods have it, whatever a team calls an engine.
LABEL_PICKER = f"{GROUP}/picker"
#: On the pods among them that claim devices, with the same value: their anti-affinity selects it.
LABEL_CLAIMANT = f"{GROUP}/claimant"
#: LeaderWorkerSet's own label on a gang's pods: the number of the copy.
LABEL_GANG = "leaderworkerset.sigs.k8s.io/group-index"
#: On the control cluster, on each Object that observes a pod of a replica: the replica's name.
LABEL_PODS_OF = f"{GROUP}/pods-of"
#: On the control cluster, on each Object that observes a pod which fills a volume: the ModelCache's name.
LABEL_PODS_OF_CACHE = f"{GROUP}/pods-of-cache"
#: Annotation of a gang's pods: digest of their templates.
ANNOTATION_TEMPLATE = f"{GROUP}/template"
#: Annotation of an endpoint picker's pods: digest of the configuration that they were started with.
ANNOTATION_CONFIG = f"{GROUP}/config"
#: Annotation of a ModelDeployment or ModelReplica: "true" puts an endpoint picker before its copies.
ANNOTATION_PICKER = f"{GROUP}/endpoint-picker"
#: On serving pods of PrefillDecode: which half of the pair they are. The endpoint picker filters by it.
LABEL_ROLE = "llm-d.ai/role"
#: On a hydration Job and its pods: uid of the volume claim that they fill.
LABEL_FILLS = f"{GROUP}/fills"

#: On the Gateway of an inference cluster and its related objects: Modelplane has made them.
LABEL_GATEWAY = f"{GROUP}/gateway"
#: On the Secrets of the control cluster's CA, and of the key pairs that it has signed: one of two values.
LABEL_CERTIFICATE = f"{GROUP}/certificate"
OF_AUTHORITY, OF_PAIR = "authority", "pair"

#: Annotation of an Object: how often the provider observes it, a duration (crossplane-runtime's).
ANNOTATION_POLL = "crossplane.io/poll-interval"

#: Annotation of a managed resource: the name of what it manages, where the provider finds it (crossplane-runtime's).
ANNOTATION_EXTERNAL_NAME = "crossplane.io/external-name"

#: Annotation of an Object that only observes until the kubeconfig leads to its cluster again: its managementPolicies
#: before, separated by commas.
ANNOTATION_POLICIES = f"{GROUP}/management-policies"

#: Annotation of an InferenceCluster: "true" orphans its workloads when their Objects are deleted.
ANNOTATION_ABANDON = f"{GROUP}/abandon"

#: Annotation of an InferenceCluster: "true" says that another InferenceCluster reaches the same cluster, with other
#: pools.
ANNOTATION_SHARES = f"{GROUP}/shares-cluster"

#: Annotation of an InferenceGateway: "true" trusts only the present CA and the CAs of key pairs in use.
ANNOTATION_TRUST_IN_USE = f"{GROUP}/trust-in-use"

#: Context key of the placements (a JSON text) that `schedule` writes for the later steps of the pipeline.
CONTEXT_PLACEMENTS = f"{GROUP}/placements"
#: Context key of what ModelReplicas take from the profiles of a ClusterModel (a JSON text), if placements name any.
CONTEXT_PROFILES = f"{GROUP}/profiles"

#: managementPolicies of a provider-kubernetes Object that only observes.
OBSERVE_ONLY = ("Observe",)
#: Those of an Object that creates an object if it is absent, and never changes it.
CREATE_ONLY = ("Observe", "Create")

SYSTEM_NAMESPACE = "modelplane-system"
#: The ConfigMap with an installation's id: in `SYSTEM_NAMESPACE` of the control cluster, and kube-system of clusters.
INSTALLATION = "modelplane-installation"
#: The ConfigMap in `SYSTEM_NAMESPACE`, and its key, where `modelplane observe` publishes how many endpoints of each
#: HTTPRoute the public gateway has ejected, as JSON.
EJECTIONS = "gateway-ejections"
EJECTIONS_KEY = "ejections"
#: On an inference cluster: the namespace of `modelplane inventory` and the name of everything in it, and the key of its
#: ConfigMap with what the nodes of pools have, as JSON.
INVENTORY = "modelplane-inventory"
INVENTORY_KEY = "inventory"
#: Kubernetes' API group of roles and their bindings.
RBAC_GROUP = "rbac.authorization.k8s.io"
CLUSTER_GATEWAY = "inference-gateway"
#: On the control cluster: the InferenceGateway, and the Gateway that takes the requests of callers.
INFERENCE_GATEWAY = "default"
PUBLIC_GATEWAY = "public-gateway"
#: The Gateway that requests to external providers pass, its Secret with a key pair and its Service of the same name,
#: and the namespace in which Envoy Gateway makes them.
ROUTER = "provider-router"
ROUTER_PAIR = "provider-router-pair"
ENVOY_NAMESPACE = "envoy-gateway-system"
#: The objects that take the requests to the fleet URL.
FLEET = "fleet"
#: On the control cluster: the CA (Certificate, Secret and Issuer) of the hops from the public gateway, and the client
#: key pair of the public gateway.
AUTHORITY = "modelplane-ca"
CLIENT_PAIR = "public-gateway-client"
#: The name on the certificate of every gateway that the public gateway dials: TLS is set for a whole Backend. And the
#: name on the public gateway's own certificate.
SERVER_NAME = "inference-gateway.modelplane.internal"
CLIENT_NAME = "public-gateway.modelplane.internal"
#: Key of a CA's certificates in a ConfigMap or Secret.
CA_KEY = "ca.crt"
#: The public gateway's listeners: HTTP on port 80, which only redirects if there is HTTPS on port 443.
LISTENER_HTTP = "http"
LISTENER_HTTPS = "https"
#: A listener of the public gateway that only it may call, by mutual TLS: with HTTPS, the fleet URL forwards to it.
LISTENER_INTERNAL = "internal"
#: Set by the public gateway: the name of the key that a caller used.
HEADER_CALLER = "x-modelplane-caller"
#: The first is set by the fleet URL's filter: the request names a service, but no model of its engines. The second, set
#: by the service's route, has the model names that clusters' gateways then put into the body. Gateways remove headers
#: that begin with x-modelplane- from every request that they receive, their own included.
HEADER_UNNAMED = "modelplane-unnamed-model"
HEADER_SERVED = "modelplane-served-model"
#: Names the service in a request to the fleet URL whose body is no JSON object, as <namespace>/<service>.
HEADER_MODEL = "x-model"
#: The gateways that a request has passed (RFC 8586): a public gateway adds its name, and refuses what has it already.
HEADER_PASSED = "cdn-loop"
#: Names of public gateways in that header begin with this.
PASSED_PREFIX = f"{GROUP.partition('.')[0]}-"
#: Taint of every GPU node; every engine pod tolerates it.
GPU_TAINT = "nvidia.com/gpu"
#: The pool without GPUs of a cloud's cluster; no GPU pool may have its name.
SYSTEM_POOL = "system"
ENGINE_PORT = 8000
#: The name of the port on which an engine takes requests, where its container names none.
ENGINE_PORT_NAME = "http"
#: In the environment of a gang's engine containers: the leader's address, and the pod's number in the gang.
ENV_LEADER_ADDRESS = "MODELPLANE_LEADER_ADDRESS"
ENV_RANK = "MODELPLANE_RANK"
ENGINE_SERVICE_PORT = 80
#: The gRPC port of an endpoint picker.
PICKER_PORT = 9002
CLAIM_NAME = "devices"
#: The path at which an engine finds the weights of its ModelCache.
MODELS_PATH = "/mnt/models"

_REPLICA = "replica-"
_REPLICAS = ".replicas.modelplane.internal"
_ENDPOINTS = ".endpoints.modelplane.internal"
#: An index has fewer digits than this.
_LONGEST_INDEX = 10
#: Characters of a hash at the end of a name, with the dash before it.
_HASH = 9
#: Hex digits of the hash in a name that others trust although a team chooses its text: too many to try them all.
_TRUSTED_DIGITS = 16
#: Precedes that hash in the names of what the public gateway and the router read. The policies in
#: `install/admission.yaml` let nobody but Crossplane use a name that ends in both.
_GATEWAY_MARK = "-mp"
_CUT = re.compile(r"-[0-9a-f]{8}$")
#: Longest Kubernetes object name that also fits a label value.
NAME_LIMIT = 63
#: Longest name on an inference cluster: a LeaderWorkerSet's pods carry a label made of it and a revision hash.
WORKLOAD_NAME_LIMIT = 49


def digest(*parts: str, digits: int = 8) -> str:
    """Return hex digits of SHA-256 over all parts, encoded so that different lists have different inputs."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def passed_name(uid: str) -> str:
    """Return the name of a public gateway in HEADER_PASSED, by the uid of its InferenceGateway."""
    return f"{PASSED_PREFIX}{hashlib.sha256(uid.encode()).hexdigest()[:16]}"


def composed_name(prefix: str, *parts: str, limit: int = NAME_LIMIT) -> str:
    """Return `<prefix>-<8 hex over parts>`, the prefix cut so that the whole is at most `limit` characters."""
    return f"{prefix[: limit - _HASH].rstrip('-.')}-{digest(*parts)}"


def trusted_name(
    prefix: str, *parts: str, limit: int = NAME_LIMIT, mark: str = "", digits: int = _TRUSTED_DIGITS
) -> str:
    """Return `<prefix><mark>-<hex over parts>`, of at most `limit` characters: only the prefix is cut."""
    ending = f"{mark}-{digest(*parts, digits=digits)}"
    return f"{prefix[: limit - len(ending)].rstrip('-.')}{ending}"


def _readable(text: str) -> str:
    """Return a text in the characters of DNS-1035: a letter first, no dots."""
    readable = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    return readable if readable[:1].isalpha() else f"m-{readable}".rstrip("-")


def workload_name(prefix: str, *parts: str) -> str:
    """Return a composed name for an inference cluster: DNS-1035 (a letter first, no dots), at most 49 characters."""
    return composed_name(_readable(prefix), *parts, limit=WORKLOAD_NAME_LIMIT)


def engine_name(namespace: str, replica: str, engine: str) -> str:
    """Return the name of an engine's new workload.

    It has a digit more than that of an endpoint picker, which in turn had 8 of them in earlier versions: whatever a
    team calls its engines, none has the name of a picker.
    """
    prefix, digits = _readable(f"{replica}-{engine}"), _TRUSTED_DIGITS + 1
    return trusted_name(prefix, namespace, replica, engine, limit=WORKLOAD_NAME_LIMIT, digits=digits)


def picker_name(namespace: str, replica: str) -> str:
    """Return the name of a replica's new endpoint picker, which no new engine has."""
    parts = (namespace, replica, "edge", "picker")
    return trusted_name(_readable(f"{replica}-picker"), *parts, limit=WORKLOAD_NAME_LIMIT)


def replica_name(namespace: str, deployment: str, cluster: str, index: int) -> str:
    """Return the name of a ModelReplica and its ModelEndpoint, which is also valid on the inference cluster.

    It is `<deployment>-<cluster>-<index>-<hash>`, deployment and cluster cut where they are long, the longer one first.
    The hash is over namespace, deployment, cluster and index, not the uid: a restored backup keeps its names.
    """
    place = str(index)
    room = WORKLOAD_NAME_LIMIT - _HASH - len(place) - 2
    first, second = _readable(deployment), re.sub(r"[^a-z0-9-]+", "-", cluster.lower()).strip("-")
    kept = max(room - len(second), room // 2)
    first = first[:kept].rstrip("-")
    readable = f"{first}-{second[: room - len(first)].rstrip('-')}-{place}"
    return f"{readable}-{digest(namespace, deployment, cluster, place)}"


def replica_resource(cluster: str, index: int) -> str:
    """Return the composition resource name of a deployment's ModelReplica on (cluster, index)."""
    return f"{_REPLICA}{cluster}-{index}"


def place_of_resource(resource: str) -> tuple[str, int] | None:
    """Return the (cluster, index) of a name from `replica_resource`, None for any other name."""
    cluster, _, number = resource.removeprefix(_REPLICA).rpartition("-")
    is_index = number.isascii() and number.isdecimal() and len(number) < _LONGEST_INDEX
    if not cluster or not is_index or resource != replica_resource(cluster, int(number)):
        return None
    return cluster, int(number)


def endpoint_resource(cluster: str, index: int) -> str:
    """Return the composition resource name of the ModelEndpoint of the replica on (cluster, index)."""
    return f"endpoint-{cluster}-{index}"


def tenant_namespace(namespace: str) -> str:
    """Return the namespace on an inference cluster that mirrors a team's namespace: each has one of its own.

    A name that is too long is cut and hashed. A name that looks like the result is hashed as well, because a team could
    have chosen it to get into another team's namespace.
    """
    name = f"mp-{namespace}"
    room = NAME_LIMIT - _HASH
    if len(name) <= room or (len(name) <= NAME_LIMIT and not _CUT.search(name)):
        return name
    cut = composed_name(name, namespace)
    # Without its dashes, such a name could be as short as names that are not hashed.
    return cut if len(cut) > room else composed_name(f"{name[: room - 1]}x", namespace)


def is_mirrored_by_hash(namespace: str) -> bool:
    """Tell whether a team's namespace is mirrored under a name with a hash, which another's could share."""
    return tenant_namespace(namespace) != f"mp-{namespace}"


def volume_name(namespace: str, cache: str, repo: str, revision: str) -> str:
    """Return the name of the volume claim of a ModelCache: another source or revision is another volume."""
    return workload_name(cache, namespace, cache, repo, revision)


#: What the control cluster is called among clusters. An InferenceCluster of this name would share its configs.
CONTROL_CLUSTER = f"control-cluster.{GROUP}"


def provider_config(cluster: str) -> str:
    """Return the name of the ClusterProviderConfig that reaches an InferenceCluster."""
    return cluster


def replica_hostname(replica: str, namespace: str, cluster: str) -> str:
    """Return the host a replica answers to on its cluster's gateway; each label at most 63, all at most 253."""
    cut = cluster if len(cluster) <= NAME_LIMIT else composed_name(cluster, cluster)
    return f"{replica}.{namespace}.{cut}{_REPLICAS}"


def is_replica_hostname(host: str, replica: str, namespace: str) -> bool:
    """Tell whether a host is the `replica_hostname` of a replica of this name and namespace, on any cluster.

    A replica's name has no dots; a name with dots could be read as the name and namespace of another replica.
    """
    prefix = f"{replica}.{namespace}."
    cluster = host.removeprefix(prefix).removesuffix(_REPLICAS)
    return "." not in replica and bool(cluster) and host == f"{prefix}{cluster}{_REPLICAS}"


def endpoint_hostname(endpoint: str, namespace: str) -> str:
    """Return the host by which the router knows a hand-written ModelEndpoint; each label has at most 63 characters."""
    label = endpoint if len(endpoint) <= NAME_LIMIT and "." not in endpoint else composed_name("endpoint", endpoint)
    return f"{label}.{namespace}{_ENDPOINTS}"


def endpoint_object(endpoint: str, namespace: str, part: str) -> str:
    """Return the name of a new part of a ModelEndpoint, an object in its namespace."""
    return trusted_name(f"{endpoint}-{part}", "endpoint", namespace, endpoint, part, mark=_GATEWAY_MARK)


def service_object(service: str, namespace: str, part: str) -> str:
    """Return the name of a new part of a ModelService, an object in its namespace."""
    return trusted_name(f"{service}-{part}", namespace, service, part, mark=_GATEWAY_MARK)
