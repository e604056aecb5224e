"""The cluster's inference gateway: which of its objects are composed, and its address as the cluster reports it.

A Gateway that somebody else has created is left unchanged, and is reached without TLS as before: Modelplane creates
nothing beside it. If there is none, Modelplane creates one, which only the public gateway may call.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.orphan import may_delete, observing, orphaned, resumed
from modelplane.composing.references import arrange
from modelplane.kube.certificate import authority_config_map, pair
from modelplane.kube.copy import owned, source_copy
from modelplane.kube.gateway.model_name import served_model_filter
from modelplane.kube.gateway.private import PrivateGateway
from modelplane.kube.gateway.proxy import gateway_class
from modelplane.kube.gateway.traffic import HOP_BUFFER, LARGE_BUFFER
from modelplane.kube.object import ORPHANED, SELDOM_POLLED, Handling, observed_only, remote_object
from modelplane.model.names import (
    AUTHORITY,
    CLUSTER_GATEWAY,
    LABEL_GATEWAY,
    LABEL_NAMESPACE,
    LABEL_REACHES_ENGINES,
    LISTENER_HTTPS,
    SERVER_NAME,
    SYSTEM_NAMESPACE,
    workload_name,
)
from modelplane.observed.endpoint import is_ip
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.gateway import choose_outer_address, read_gateway, serves
from modelplane.observed.remote import Remote
from modelplane.step import Manifest, Object, Request

RESOURCE = "gateway"
#: Composition resource names of what belongs to the Gateway begin with this.
PART: Final = "gateway-part-"
_CERTIFICATE: Final = f"{PART}certificate"
_UNKNOWN: Final = f"{PART}unknown-hosts"
_CLASS: Final = "envoy"
#: The name of an object, as a cluster's Gateway may give it.
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_HAS_ADDRESS = "has(object.status) && has(object.status.addresses) && size(object.status.addresses) > 0"
#: Create if absent, never update.
_IF_ABSENT: Final = Handling(policies=("Observe", "Create"), ready_when=_HAS_ADDRESS, watch=True)
_LABELS: Final = {LABEL_NAMESPACE: SYSTEM_NAMESPACE, LABEL_REACHES_ENGINES: "true"}
_NAMESPACE: Final = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": SYSTEM_NAMESPACE, "labels": _LABELS},
}
#: Routes may attach from the namespaces that Modelplane creates.
_NAMESPACES: Final = {
    "from": "Selector",
    "selector": {"matchExpressions": [{"key": LABEL_NAMESPACE, "operator": "Exists"}]},
}


def is_ours(gateway: Remote | None) -> bool:
    """Tell whether the Gateway on the cluster is one that Modelplane made."""
    metadata = mapping(mapping(gateway.manifest if gateway else None).get("metadata"))
    return mapping(metadata.get("labels")).get(LABEL_GATEWAY) == "true" and not (gateway and gateway.absent)


def _private(certificate: str, buffer: int = HOP_BUFFER) -> PrivateGateway:
    return PrivateGateway(
        name=CLUSTER_GATEWAY,
        class_name=_CLASS,
        certificate=certificate,
        authority=AUTHORITY,
        namespaces=_NAMESPACES,
        to_copies=True,
        buffer=buffer,
    )


def pair_name(cluster: str) -> str:
    """Return the name of the Secret with the pair of a cluster's gateway on the control cluster."""
    return workload_name(cluster, "gateway-pair", cluster)


def _shown_pair(cluster: str, gateway: Remote | None) -> str:
    """Return the name of the pair's Secret on the cluster: the one that the Gateway names, if there is one of ours.

    Another InferenceCluster may have made the Gateway. A Secret of another name would change its listener, which ends
    long streams.
    """
    there = gateway or Remote()
    for manifest in (there.wanted, there.manifest if is_ours(there) else None):
        for listener in mappings(mapping(mapping(manifest).get("spec")).get("listeners")):
            for reference in mappings(mapping(listener.get("tls")).get("certificateRefs")):
                if _NAME.fullmatch(name := text(reference.get("name"))):
                    return name
    return pair_name(cluster)


def _on_cluster(config: str, manifest: Mapping[str, Any], handling: Handling = SELDOM_POLLED) -> Manifest:
    return remote_object(manifest, handling, namespace=SYSTEM_NAMESPACE, config=config)


def _buffer(request: Request) -> int:
    """Return the bytes of a request that the Gateway holds, few while there may be services without keys."""
    found = request.one(require.inference_gateway())
    asks = isinstance(found, Object) and mapping(found.body.get("spec")).get("requireKeys") is True
    return LARGE_BUFFER if asks else HOP_BUFFER


def _parts(cluster: str, config: str, bundle: str, shown: str, buffer: int) -> dict[str, Manifest]:
    """Return the objects that must exist before the Gateway, by composition resource name.

    `shown` is the name of the pair's Secret on the cluster, `buffer` are the bytes of a request that the Gateway holds.
    """
    name = pair_name(cluster)
    metadata = {"name": name, "namespace": SYSTEM_NAMESPACE}
    secret = {"kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata}
    copy = source_copy(secret, Handling(watch=True), namespace=SYSTEM_NAMESPACE, config=config, called=shown)
    trusted = authority_config_map(AUTHORITY, SYSTEM_NAMESPACE, bundle)
    around = _private(shown, buffer).surroundings()
    return {
        _CERTIFICATE: pair(name, SERVER_NAME, "server auth"),
        f"{PART}namespace": _on_cluster(config, _NAMESPACE, ORPHANED),
        f"{PART}class": _on_cluster(config, gateway_class(_CLASS), ORPHANED),
        f"{PART}pair": owned(copy, name),
        f"{PART}authority": _on_cluster(config, trusted),
        f"{PART}served-model": _on_cluster(
            config, served_model_filter(CLUSTER_GATEWAY, SYSTEM_NAMESPACE, CLUSTER_GATEWAY)
        ),
        **{f"{PART}{what}": _on_cluster(config, manifest) for what, manifest in around.items()},
    }


def read_bundle(request: Request) -> str:
    """Return the CA certificates that the InferenceGateway publishes, "" without any."""
    found = request.one(require.inference_gateway())
    return read_gateway(found).ca_bundle if isinstance(found, Object) else ""


def bodies(
    request: Request, config: str, gateway: Remote | None, ready: Mapping[str, bool], *, may_make: bool
) -> dict[str, Mapping[str, Any]]:
    """Return the cluster's Gateway and its related objects; only an observing Object while its owner is not known.

    `ready` says for each observed part whether it is on the cluster as desired. `may_make`: the cluster reported that
    it has no Gateway, and has the kinds that one is made of.
    """
    cluster, bundle = request.composite.name, read_bundle(request)
    composed = any(name.startswith(PART) for name in request.observed)
    if not bundle and composed:
        return hold(request)
    if not bundle or not (composed or is_ours(gateway) or may_make):
        return {RESOURCE: observe_gateway(config)}
    shown = _shown_pair(cluster, gateway)
    parts = _parts(cluster, config, bundle, shown, _buffer(request))
    handling = Handling(ready_when=_HAS_ADDRESS, watch=True) if is_ours(gateway) else _IF_ABSENT
    last = {
        RESOURCE: _on_cluster(config, _private(shown).gateway(), handling),
        _UNKNOWN: _on_cluster(config, _private(shown).unknown_hosts()),
    }
    needs = {} if is_ours(gateway) else dict.fromkeys(last, parts)
    there = {name: () for name, is_there in ready.items() if is_there}
    return arrange({**parts, **last}, needs, there, {RESOURCE: observe_gateway(config)})


def hold(request: Request) -> dict[str, Manifest]:
    """Return the observed Object of the Gateway and its observed parts, held, with the policies that they had."""
    there = request.observed.items()
    return {name: resumed(held(each.body)) for name, each in there if name == RESOURCE or name.startswith(PART)}


def released(request: Request, config: str) -> dict[str, Manifest]:
    """Return the Object that observes a Gateway that another InferenceCluster has.

    Parts that were composed before are orphaned first, and left out once they are.
    """
    kept = {name: orphaned(body) for name, body in hold(request).items() if name != RESOURCE and may_delete(body)}
    return {RESOURCE: observe_gateway(config), **kept}


def watched(request: Request, config: str) -> dict[str, Manifest]:
    """Return the Gateway's Object and its parts, held, which only observe what is on the cluster of somebody else."""
    return {RESOURCE: observe_gateway(config)} | {name: observing(body) for name, body in hold(request).items()}


def observe_gateway(config: str) -> Manifest:
    """Return the Object that only observes the cluster's Gateway."""
    whole = _private("").gateway()
    named = {key: whole[key] for key in ("apiVersion", "kind")}
    metadata = {key: whole["metadata"][key] for key in ("name", "namespace")}
    return _on_cluster(config, {**named, "metadata": metadata}, observed_only(ready_when=_HAS_ADDRESS, watch=True))


def read_address(seen: Remote | None, last: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `status.gateway`: address, hostname if that is a DNS name, mutualTLS; empty while there is no address.

    Only the Gateway's status changes what was published: while it is not observed, or not in sync, the last address
    stays. Of several addresses the published one is preferred, so that their order does not matter. One that leads into
    the control cluster is never published first: the public gateway would send there what its callers ask for. The
    address of Modelplane's own Gateway is published once its listener serves.
    """
    if seen is None or seen.manifest is None or (seen.synced is False and last):
        return last
    secured = last.get("mutualTLS") is True
    address = choose_outer_address(seen.manifest, text(last.get("address")))
    if not address or (is_ours(seen) and not secured and not serves(seen.manifest, LISTENER_HTTPS)):
        return {}
    found: dict[str, Any] = {"address": address} if is_ip(address) else {"address": address, "hostname": address}
    return found | ({"mutualTLS": True} if secured or is_ours(seen) else {})
