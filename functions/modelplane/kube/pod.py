"""The pod of an engine: the user's container, unchanged, and what it needs to run on a GPU pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.kube.volume import claimed
from modelplane.model.names import (
    CLAIM_NAME,
    ENGINE_PORT,
    ENGINE_PORT_NAME,
    ENV_LEADER_ADDRESS,
    ENV_RANK,
    GPU_TAINT,
    LABEL_CLAIMANT,
    LABEL_DEPLOYMENT,
    LABEL_POOL,
    LABEL_WORKLOAD,
    MODELS_PATH,
)

#: How long an engine may load its weights before it is restarted.
STARTUP_SECONDS = 7200
_STARTUP_PERIOD = 10
#: How long an engine may take to stop once it is asked to, Kubernetes' default.
_STOP_SECONDS = 30
_NODE = "kubernetes.io/hostname"
#: Default capabilities that no engine needs. Dropping all of them breaks images that run as root.
_DROPPED: Final = ("AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT")
_ALL: Final = "ALL"
_SHARED_MEMORY = "shared-memory"
_MODELS = "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPod:
    """What a member of an engine asks of its pods."""

    #: The node pool that they run on.
    pool: str
    #: The user's container.
    container: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: Sequence[Mapping[str, Any]] = ()
    #: Those of the pool, besides the one for NVIDIA's taint that every pod has.
    tolerations: Sequence[Mapping[str, Any]] = ()
    #: Requests and limits of CPU and memory. Pods of one engine that request some run on distinct nodes.
    resources: Mapping[str, Any] = field(default_factory=dict)
    #: The size limit of /dev/shm, None for no limit.
    shared_memory: int | str | None = None


@dataclass(frozen=True, slots=True)
class EnginePod:
    """The inputs of a pod template: what its member asks, and what its engine and its replica add."""

    member: MemberPod
    #: The label value of one engine's pods.
    workload: str
    #: The ModelDeployment, "" for a hand-written replica.
    deployment: str = ""
    #: The ResourceClaimTemplate's name, None for a pod that claims nothing.
    claim: str | None = None
    #: The claim with the engine's weights, "" for none.
    volume: str = ""
    #: Modelplane's containers beside the user's.
    sidecars: Sequence[Mapping[str, Any]] = ()
    #: How long a deleted pod keeps answering before its container is asked to stop.
    drain_seconds: int = 0
    #: Whether the pod prefers nodes without pods of the deployment.
    spread: bool = True
    #: Whether the engine has only the capabilities that it adds.
    drops_all: bool = False

    @property
    def holds_node(self) -> bool:
        """Return whether the pod needs a node without other such pods of its engine."""
        return bool(self.claim or self.member.resources)


#: The probes of a container.
STARTUP, READINESS, LIVENESS = "startupProbe", "readinessProbe", "livenessProbe"
PROBES: Final = (STARTUP, READINESS, LIVENESS)


@dataclass(frozen=True, slots=True)
class Health:
    """What an engine is asked unless its container says: its port, and the paths of the probes.

    `live` is the path of the liveness probe, "" for what the readiness probe asks.
    """

    port: int = ENGINE_PORT
    ready: str = "/health"
    live: str = "/health"


def _requests(container: Mapping[str, Any], health: Health) -> dict[str, dict[str, Any]]:
    """Return the request of each probe: as it is written, with what that leaves out added.

    An engine has started once it is ready, so its startup probe asks what its readiness probe does.
    """

    def request(probe: str, default: Mapping[str, Any]) -> dict[str, Any]:
        stated = (container.get(probe) or {}).get("httpGet")
        return {"path": default["path"], "port": health.port, **stated} if stated else dict(default)

    ready = request(READINESS, {"path": health.ready, "port": health.port})
    live = {"path": health.live, "port": health.port} if health.live else ready
    return {STARTUP: request(STARTUP, ready), READINESS: ready, LIVENESS: request(LIVENESS, live)}


def _ports(container: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**port, "protocol": "TCP"} for port in container.get("ports") or ()]


def serving(container: Mapping[str, Any], health: Health) -> dict[str, Any]:
    """Return the container with the ports and the probes of an engine that serves requests.

    What it states of them stays.

    Readiness waits 5 s for an answer, because with one second it flaps on large models. Liveness needs several failures
    and, like readiness, starts only after the startup probe, so a long load is no failure. A container that a probe
    restarts has nothing to drain, so it gets Kubernetes' default grace period instead of the pod's.
    """
    restart = {"terminationGracePeriodSeconds": _STOP_SECONDS}
    asked = _requests(container, health)
    return {
        **container,
        "ports": _ports(container) or [{"name": ENGINE_PORT_NAME, "containerPort": health.port, "protocol": "TCP"}],
        STARTUP: {
            "httpGet": asked[STARTUP],
            **restart,
            "periodSeconds": _STARTUP_PERIOD,
            "timeoutSeconds": 5,
            "failureThreshold": STARTUP_SECONDS // _STARTUP_PERIOD,
        },
        READINESS: {
            "httpGet": asked[READINESS],
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 3,
        },
        LIVENESS: {
            "httpGet": asked[LIVENESS],
            **restart,
            "periodSeconds": 20,
            "timeoutSeconds": 10,
            "failureThreshold": 6,
        },
    }


def listening(container: Mapping[str, Any], health: Health) -> dict[str, Any]:
    """Return the container of an engine's pod that takes no requests, with the ports and probes that it states."""
    stated = {field: value for field, value in serving(container, health).items() if container.get(field)}
    return {**container, **stated}


#: Variables of a gang's engines. The values are LeaderWorkerSet's own variables, which come before these.
_GANG = {ENV_LEADER_ADDRESS: "$(LWS_LEADER_ADDRESS)", ENV_RANK: "$(LWS_WORKER_INDEX)"}


def ganged(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return a gang member's container with the leader's address and its rank (0 is the leader).

    These variables come before the user's, which can refer to them and override them.
    """
    rows = list(container.get("env") or ())
    own = {row.get("name") for row in rows}
    injected = [{"name": name, "value": value} for name, value in _GANG.items() if name not in own]
    return {**container, "env": [*injected, *rows]}


def finding_weights(container: Mapping[str, Any], flag: str) -> dict[str, Any]:
    """Return the container with a flag for the path of the weights, after the user's arguments."""
    return {**container, "args": [*(container.get("args") or ()), f"{flag}={MODELS_PATH}"]}


def _draining(seconds: int) -> dict[str, Any]:
    """Return the hook with which a container keeps answering while its pod is deleted; it needs no shell (KEP-3960)."""
    return {"lifecycle": {"preStop": {"sleep": {"seconds": seconds}}}} if seconds else {}


def _security(pod: EnginePod) -> dict[str, Any]:
    """Return the security context of an engine: the user's, with capabilities dropped."""
    asked = pod.member.container.get("securityContext") or {}
    drop = [_ALL] if pod.drops_all else list(_DROPPED)
    return {**asked, "capabilities": {**(asked.get("capabilities") or {}), "drop": drop}}


def drops_all(manifest: Any) -> bool:
    """Tell whether a container in a manifest, or a part of one, drops all capabilities."""
    if isinstance(manifest, Mapping):
        drop = manifest.get("drop")
        return (isinstance(drop, list) and _ALL in drop) or any(map(drops_all, manifest.values()))
    return isinstance(manifest, list) and any(map(drops_all, manifest))


def _container(pod: EnginePod) -> dict[str, Any]:
    """Return the engine container with shared memory and its claim; nothing else of the user's is changed.

    When it crashes, the end of its log says why, for few engines write a termination message.
    """
    mounts: list[dict[str, Any]] = [{"name": _SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108
    if pod.volume:
        mounts.append({"name": _MODELS, "mountPath": MODELS_PATH, "readOnly": True})
    security = {"securityContext": _security(pod)}
    why = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    container = {**pod.member.container, **why, **security, **_draining(pod.drain_seconds), "volumeMounts": mounts}
    resources = {**pod.member.resources, **({"claims": [{"name": CLAIM_NAME}]} if pod.claim else {})}
    return container | ({"resources": resources} if resources else {})


def _anti_affinity(pod: EnginePod) -> dict[str, Any]:
    """Return the anti-affinity: required between pods of one engine that need a node each, preferred between replicas.

    The scheduler's ledger depends on the first: a node failure affects one copy, and each copy needs its own node. A
    pod that neither claims nor requests anything (a gang's leader without devices) may run on any node.
    """
    rules: dict[str, Any] = {}
    if pod.holds_node:
        same_engine = {"labelSelector": {"matchLabels": {LABEL_CLAIMANT: pod.workload}}, "topologyKey": _NODE}
        rules["requiredDuringSchedulingIgnoredDuringExecution"] = [same_engine]
    if pod.deployment and pod.spread:
        siblings = {"labelSelector": {"matchLabels": {LABEL_DEPLOYMENT: pod.deployment}}, "topologyKey": _NODE}
        rules["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": 100, "podAffinityTerm": siblings}]
    return {"affinity": {"podAntiAffinity": rules}} if rules else {}


def tolerations(pools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tolerations of a pod that runs on nodes of pools with these, with that of NVIDIA's taint."""
    return [{"key": GPU_TAINT, "operator": "Exists"}, *map(dict, pools)]


def pod_template(pod: EnginePod) -> dict[str, Any]:
    """Return the pod template of an engine's member.

    Service links are disabled: they would add variables such as `VLLM_PORT`, derived from the names of Services, to the
    engine's environment, which belongs to the user.
    """
    own = {LABEL_WORKLOAD: pod.workload} | ({LABEL_DEPLOYMENT: pod.deployment} if pod.deployment else {})
    own |= {LABEL_CLAIMANT: pod.workload} if pod.holds_node else {}
    bound = {"sizeLimit": pod.member.shared_memory} if pod.member.shared_memory else {}
    spec: dict[str, Any] = {
        "containers": [_container(pod)],
        "nodeSelector": {LABEL_POOL: pod.member.pool},
        "tolerations": tolerations(pod.member.tolerations),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": pod.drain_seconds + _STOP_SECONDS,
        "volumes": [{"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory", **bound}}],
        **_anti_affinity(pod),
    }
    if pod.volume:
        spec["volumes"].append({"name": _MODELS, **claimed(pod.volume, read_only=True)})
    if pod.sidecars:
        # Native sidecars of Kubernetes: they start before the engine, and stop after it has finished its requests.
        spec["initContainers"] = [{**sidecar, "restartPolicy": "Always"} for sidecar in pod.sidecars]
    if pod.claim:
        spec["resourceClaims"] = [{"name": CLAIM_NAME, "resourceClaimTemplateName": pod.claim}]
    if pod.member.pull_secrets:
        spec["imagePullSecrets"] = [dict(secret) for secret in pod.member.pull_secrets]
    metadata: dict[str, Any] = {"labels": {**pod.member.labels, **own}}
    if pod.member.annotations:
        metadata["annotations"] = dict(pod.member.annotations)
    return {"metadata": metadata, "spec": spec}
