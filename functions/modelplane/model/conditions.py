"""The conditions of every kind: their types, and their reasons with the meaning of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

#: Longest message of a condition, an event or a fatal result, in characters.
MESSAGE_LIMIT: Final = 1000
_CUT: Final = " ..."


class Status(StrEnum):
    """Status of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Condition:
    """A custom condition of the composite; `message` is deterministic and without times, and is capped on output."""

    type: str
    status: Status
    reason: str
    message: str = ""


class DeploymentCondition(StrEnum):
    """Condition types of a ModelDeployment."""

    REPLICAS_SCHEDULED = "ReplicasScheduled"
    REPLICAS_READY = "ReplicasReady"
    ROLLOUT_PROGRESSING = "RolloutProgressing"
    PLACEMENT_DRIFTED = "PlacementDrifted"
    MODEL_CACHE_RESOLVED = "ModelCacheResolved"
    MODEL_RESOLVED = "ModelResolved"


class AnyCondition(StrEnum):
    """Condition types of every kind whose Composition states a version."""

    VERSIONS_MATCH = "VersionsMatch"


class ReplicaCondition(StrEnum):
    """Condition types of a ModelReplica."""

    MODEL_ACCEPTED = "ModelAccepted"
    MODEL_READY = "ModelReady"


class EndpointCondition(StrEnum):
    """Condition types of a ModelEndpoint."""

    ROUTING_READY = "RoutingReady"


class ServiceCondition(StrEnum):
    """Condition types of a ModelService."""

    ENDPOINTS_RESOLVED = "EndpointsResolved"
    ROUTING_READY = "RoutingReady"


class CacheCondition(StrEnum):
    """Condition types of a ModelCache."""

    CLUSTERS_MATCHED = "ClustersMatched"
    ARTIFACT_READY = "ArtifactReady"


class ClassCondition(StrEnum):
    """Condition types of an InferenceClass."""

    ACCEPTED = "Accepted"


class ModelCondition(StrEnum):
    """Condition types of a ClusterModel."""

    ACCEPTED = "Accepted"


class ClusterCondition(StrEnum):
    """Condition types of an InferenceCluster."""

    CLUSTER_READY = "ClusterReady"
    BACKEND_READY = "BackendReady"


class StackCondition(StrEnum):
    """Condition types of a ServingStack."""

    PARTS_READY = "PartsReady"


class ManagedCondition(StrEnum):
    """Condition types of a ManagedCluster."""

    CLOUD_READY = "CloudReady"


class GatewayCondition(StrEnum):
    """Condition types of an InferenceGateway."""

    CONTROLLER_READY = "ControllerReady"


class Reason(StrEnum):
    """Every reason of a condition; `meaning` is one sentence that says when it is set."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Reason":
        """Return the member for a reason's text."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    ACCEPTED = "Accepted", "The replica's objects are on its cluster as they were asked for."
    ALL_REPLICAS_READY = "AllReplicasReady", "As many replicas serve as spec.replicas asks for."
    AMBIGUOUS_DEVICE = "AmbiguousDevice", "Several devices of the class may be the GPU of profiles, and none is named."
    AS_ASKED = "AsAsked", "Every replica runs where the selectors and tolerations of its deployment allow it."
    AUTH_SECRET_MISSING = "AuthSecretMissing", "A Secret that the download needs, or its key, does not exist."
    AVAILABLE = "Available", "Every declared device can be evaluated, or every profile can be served."
    BACKEND_CONFIGURED = "BackendConfigured", "The endpoint has an address that services can route to."
    BACKEND_HEALTHY = (
        "BackendHealthy",
        "The cluster's inference gateway has an address, and what spec.stack asks for that engines need runs.",
    )
    BACKEND_REJECTED = "BackendRejected", "The gateway did not accept what was composed for the service."
    CLUSTER_RUNNING = "ClusterRunning", "The cluster is reached and its pools are published."
    CLUSTER_UNREACHABLE = "ClusterUnreachable", "Clusters with replicas do not answer; what runs there is not known."
    CONFIGURING = "Configuring", "The service's routes are composed and not accepted yet."
    CONTROLLER_HEALTHY = "ControllerHealthy", "The gateway's controller is installed and healthy."
    CREDENTIAL_MISSING = "CredentialMissing", "A Secret that the endpoint names has no usable value under its key."
    DEGRADED = "Degraded", "Fewer replicas serve than did, or than can be placed."
    DEPLOYING = "Deploying", "The replica's objects are on their way to its cluster."
    DUPLICATE_CLUSTER = "DuplicateCluster", "Another InferenceCluster reaches the same cluster, and had it first."
    EDIT_HELD = "EditHeld", "A replica keeps its last spec because the edit cannot be applied."
    FAILED = "Failed", "Staging the artifact failed on a cluster and will not succeed by itself."
    HYDRATING = "Hydrating", "The artifact is being downloaded."
    IDENTITY_CHANGED = "IdentityChanged", "The kubeconfig leads to another cluster than before."
    INSTALLING = "Installing", "A part of the stack is being installed."
    INSUFFICIENT_CAPACITY = "InsufficientCapacity", "Candidates exist, and none of them can take another replica."
    INVALID_DEVICE = "InvalidDevice", "A declared device cannot be evaluated as Kubernetes would."
    INVALID_ENGINE = "InvalidEngine", "An engine cannot be composed as the spec describes it."
    INVALID_HOST = (
        "InvalidHost",
        "The endpoint names a host that is not its own, or is inside the control cluster.",
    )
    INVALID_NODE_POOL = "InvalidNodePool", "A node pool cannot be made, or its class does not fit the cluster."
    INVALID_NODE_SELECTOR = "InvalidNodeSelector", "A device selector of the deployment does not compile."
    INVALID_PROFILE = (
        "InvalidProfile",
        "A profile of the ClusterModel contradicts itself: no replica is placed on it.",
    )
    INVALID_URL = "InvalidURL", "The endpoint's address cannot be dialled as it is written."
    KEY_INVALID = "KeyInvalid", "A caller key's Secret holds no usable key."
    KEY_MISSING = "KeyMissing", "The Secret of a caller key, or its key, does not exist."
    KIND_INACTIVE = "KindInactive", "A kind of a provider is installed on the control cluster, and not activated."
    KEYS_REQUIRED = "KeysRequired", "The gateway requires caller keys, and the service names none."
    MADE = "Made", "The cluster is in its cloud as it is asked for, and what its node pools wait for is reported."
    MATCHED = "Matched", "At least one cluster matches the selector, or the versions match."
    MODEL_CACHE_NOT_FOUND = "ModelCacheNotFound", "The deployment names a ModelCache that does not exist."
    MODEL_CACHE_RESOLVED = "ModelCacheResolved", "It is known which clusters the deployment's cache is staged on."
    MODEL_CACHE_UNRESOLVED = "ModelCacheUnresolved", "The cache exists, and its clusters are not known yet."
    MODEL_NOT_ACCEPTED = "ModelNotAccepted", "The ClusterModel has no profile that can be served."
    MODEL_NOT_FOUND = "ModelNotFound", "The deployment names a ClusterModel that does not exist."
    MODEL_RESOLVED = "ModelResolved", "The ClusterModel has a profile that can be served."
    MODEL_STARTING = "ModelStarting", "The pods exist, and some of them do not serve yet."
    NO_CLUSTERS = "NoClusters", "No cluster matches the selectors."
    NO_ENDPOINTS = "NoEndpoints", "No ready endpoint matches; the route stays and answers 503."
    NO_REPLICAS_SCHEDULED = "NoReplicasScheduled", "No replica has a cluster yet."
    NOT_REQUIRED = "NotRequired", "The deployment names no such object."
    OTHER_INSTALLATION = "OtherInstallation", "Another installation of Modelplane has the cluster."
    OUTSIDE_SELECTORS = "OutsideSelectors", "Replicas run where selectors or tolerations no longer allow it."
    PINNED = "Pinned", "Replicas stay as they were placed: edits of the ClusterModel are for new ones only."
    PARTIAL = "Partial", "The artifact is staged on some of the clusters."
    PARTS_RUNNING = "PartsRunning", "Every part of the stack runs that engines need."
    PART_FAILED = "PartFailed", "A part of the stack could not be installed; the message says why, and what to do."
    PART_MISSING = "PartMissing", "A part of the stack is not on the cluster, and Modelplane is not to install it."
    PAUSED = "Paused", "The rollout is paused: replicas that are not at the present revision stay as they are."
    POLICY_REJECTED = "PolicyRejected", "The gateway did not accept a policy of the service."
    PROVIDER_MISSING = "ProviderMissing", "A provider that Modelplane composes with is not on the control cluster."
    PROVIDER_UNHEALTHY = "ProviderUnhealthy", "A provider that Modelplane composes with does not run."
    PROVISIONING = "Provisioning", "The cluster is being made or has not been reached yet."
    REPLICAS_SCHEDULED = "ReplicasScheduled", "Every replica that is asked for has a cluster."
    RESOLVED = "Resolved", "At least one ready endpoint matches."
    ROLLING_OUT = "RollingOut", "Replicas are on their way to the present revision."
    ROLLOUT_COMPLETE = "RolloutComplete", "No replica is on its way to another revision."
    SEARCHING = "Searching", "The search for room takes several passes, and the next one continues it."
    ROUTE_CONFIGURED = "RouteConfigured", "The gateway routes to the service's endpoints."
    SCALED_TO_ZERO = "ScaledToZero", "spec.replicas is 0: nothing is composed."
    SERVING = "Serving", "Every engine of the replica serves."
    SKEW = "Skew", "The Configuration and a function are of different versions."
    STAGED = "Staged", "The artifact is on every cluster that matches."
    UNREACHABLE = "Unreachable", "The cluster's API server does not answer."
    WAITING_FOR_CACHE = "WaitingForCache", "Placement or start waits for the deployment's cache."
    WAITING_FOR_CLASSES = "WaitingForClasses", "An InferenceClass of a pool is missing or not accepted."
    WAITING_FOR_CLUSTER = "WaitingForCluster", "The cluster does not exist or cannot be used yet."
    WAITING_FOR_GATEWAY = "WaitingForGateway", "The gateway does not exist or has no address yet."
    WAITING_FOR_MODEL = "WaitingForModel", "The replica's workload is not on its cluster yet."
    WAITING_FOR_ROOM = "WaitingForRoom", "The next replica of the rollout has no room beside the others."
    UNDETERMINED = "Undetermined", "No pass over the object has come to a result yet."


@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons that a condition type may give when it is True, when it is False and when it is Unknown."""

    true: tuple[Reason, ...]
    false: tuple[Reason, ...]
    unknown: tuple[Reason, ...] = ()


#: Why nothing is composed with a provider.
UNUSABLE_PROVIDER: Final = (Reason.PROVIDER_MISSING, Reason.KIND_INACTIVE, Reason.PROVIDER_UNHEALTHY)
#: Why a part of the serving stack does not run.
NOT_SERVED_BY_THE_STACK: Final = (
    Reason.INSTALLING,
    Reason.PART_MISSING,
    Reason.PART_FAILED,
    *UNUSABLE_PROVIDER,
)

#: The conditions of each kind.
CONDITIONS: Final[Mapping[str, Mapping[str, Reasons]]] = {
    "ModelDeployment": {
        DeploymentCondition.REPLICAS_SCHEDULED: Reasons(
            (Reason.REPLICAS_SCHEDULED, Reason.SCALED_TO_ZERO),
            (
                Reason.NO_CLUSTERS,
                Reason.INSUFFICIENT_CAPACITY,
                Reason.SEARCHING,
                Reason.INVALID_ENGINE,
                Reason.INVALID_NODE_SELECTOR,
                Reason.WAITING_FOR_CACHE,
                Reason.MODEL_NOT_FOUND,
                Reason.MODEL_NOT_ACCEPTED,
            ),
        ),
        DeploymentCondition.REPLICAS_READY: Reasons(
            (Reason.ALL_REPLICAS_READY, Reason.SCALED_TO_ZERO),
            (Reason.NO_REPLICAS_SCHEDULED, Reason.MODEL_STARTING, Reason.DEGRADED, Reason.EDIT_HELD),
            (Reason.CLUSTER_UNREACHABLE,),
        ),
        DeploymentCondition.ROLLOUT_PROGRESSING: Reasons(
            (Reason.ROLLING_OUT, Reason.WAITING_FOR_ROOM, Reason.PAUSED),
            (Reason.ROLLOUT_COMPLETE, Reason.PINNED, Reason.MODEL_NOT_FOUND, Reason.MODEL_NOT_ACCEPTED),
        ),
        DeploymentCondition.PLACEMENT_DRIFTED: Reasons((Reason.OUTSIDE_SELECTORS,), (Reason.AS_ASKED,)),
        DeploymentCondition.MODEL_CACHE_RESOLVED: Reasons(
            (Reason.MODEL_CACHE_RESOLVED, Reason.NOT_REQUIRED),
            (Reason.MODEL_CACHE_UNRESOLVED, Reason.MODEL_CACHE_NOT_FOUND),
        ),
        DeploymentCondition.MODEL_RESOLVED: Reasons(
            (Reason.MODEL_RESOLVED, Reason.NOT_REQUIRED), (Reason.MODEL_NOT_FOUND, Reason.MODEL_NOT_ACCEPTED)
        ),
    },
    "ModelReplica": {
        ReplicaCondition.MODEL_ACCEPTED: Reasons(
            (Reason.ACCEPTED,),
            (Reason.INVALID_ENGINE, Reason.WAITING_FOR_CLUSTER, Reason.WAITING_FOR_CACHE, Reason.DEPLOYING),
        ),
        ReplicaCondition.MODEL_READY: Reasons((Reason.SERVING,), (Reason.WAITING_FOR_MODEL, Reason.MODEL_STARTING)),
    },
    "ModelEndpoint": {
        EndpointCondition.ROUTING_READY: Reasons(
            (Reason.BACKEND_CONFIGURED,),
            (
                Reason.WAITING_FOR_GATEWAY,
                Reason.INVALID_URL,
                Reason.INVALID_HOST,
                Reason.CREDENTIAL_MISSING,
                Reason.BACKEND_REJECTED,
            ),
        ),
    },
    "ModelService": {
        ServiceCondition.ENDPOINTS_RESOLVED: Reasons((Reason.RESOLVED,), (Reason.NO_ENDPOINTS,)),
        ServiceCondition.ROUTING_READY: Reasons(
            (Reason.ROUTE_CONFIGURED,),
            (
                Reason.CONFIGURING,
                Reason.WAITING_FOR_GATEWAY,
                Reason.KEYS_REQUIRED,
                Reason.KEY_MISSING,
                Reason.KEY_INVALID,
                Reason.BACKEND_REJECTED,
                Reason.POLICY_REJECTED,
            ),
        ),
    },
    "ModelCache": {
        CacheCondition.CLUSTERS_MATCHED: Reasons((Reason.MATCHED,), (Reason.NO_CLUSTERS,)),
        CacheCondition.ARTIFACT_READY: Reasons(
            (Reason.STAGED,),
            (Reason.NO_CLUSTERS, Reason.HYDRATING, Reason.PARTIAL, Reason.FAILED, Reason.AUTH_SECRET_MISSING),
        ),
    },
    "ClusterModel": {
        ModelCondition.ACCEPTED: Reasons((Reason.AVAILABLE,), (Reason.INVALID_PROFILE,)),
    },
    "InferenceClass": {
        ClassCondition.ACCEPTED: Reasons((Reason.AVAILABLE,), (Reason.AMBIGUOUS_DEVICE, Reason.INVALID_DEVICE)),
    },
    "InferenceCluster": {
        ClusterCondition.CLUSTER_READY: Reasons(
            (Reason.CLUSTER_RUNNING,),
            (
                Reason.PROVISIONING,
                Reason.WAITING_FOR_CLASSES,
                Reason.INVALID_NODE_POOL,
                Reason.UNREACHABLE,
                Reason.IDENTITY_CHANGED,
                Reason.DUPLICATE_CLUSTER,
                Reason.OTHER_INSTALLATION,
                *UNUSABLE_PROVIDER,
            ),
        ),
        ClusterCondition.BACKEND_READY: Reasons(
            (Reason.BACKEND_HEALTHY,), (Reason.WAITING_FOR_CLUSTER, *NOT_SERVED_BY_THE_STACK)
        ),
    },
    "ServingStack": {StackCondition.PARTS_READY: Reasons((Reason.PARTS_RUNNING,), NOT_SERVED_BY_THE_STACK)},
    "ManagedCluster": {
        ManagedCondition.CLOUD_READY: Reasons(
            (Reason.MADE,), (Reason.PROVISIONING, Reason.INVALID_NODE_POOL, *UNUSABLE_PROVIDER)
        )
    },
    "InferenceGateway": {
        GatewayCondition.CONTROLLER_READY: Reasons((Reason.CONTROLLER_HEALTHY,), (Reason.INSTALLING,)),
    },
}


def cap(text: str) -> str:
    """Return the message cut to `MESSAGE_LIMIT` characters; a cut message ends in an ellipsis."""
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - len(_CUT)].rstrip() + _CUT
