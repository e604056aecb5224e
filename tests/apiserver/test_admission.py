"""Who may attach routes and policies to the control cluster's gateway, by the policies of install/."""

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.installed import RBAC, installed, refusal, refusal_of_change
from apiserver.server import Server
from modelplane.kube.certificate import authority_config_map
from modelplane.kube.gateway.filters import backend_host
from modelplane.kube.gateway.kinds import envoy_object, gateway_object, target
from modelplane.kube.gateway.provider import provider_secret
from modelplane.kube.gateway.route import unknown_paths
from modelplane.kube.gateway.security import caller_keys
from modelplane.kube.gateway.traffic import Traffic, gateway_traffic_policy, service_traffic_policy
from modelplane.model.names import PUBLIC_GATEWAY, SYSTEM_NAMESPACE, endpoint_object, service_object
from modelplane.observed.fields import RESOURCE_NAME
from modelplane_dev.plane.api import Api, ApiError
from modelplane_dev.plane.cluster import ACCOUNTS, ADMIN, CROSSPLANE, EVERYWHERE, TEAM, namespace
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import START

Manifest = dict[str, Any]

ROUTE_WORDS = "only Modelplane attaches routes and listeners to Gateways of modelplane-system"
POLICY_WORDS = "only Modelplane makes policies"
BACKEND_WORDS = "only Modelplane makes Backends and HTTPRouteFilters"
TRUST_WORDS = "only Modelplane writes the ConfigMaps and Secrets of ModelServices"
NAMESPACE_WORDS = "targetSelectors select targets of the policy's own namespace alone"
SELECTOR_WORDS = "targetSelectors that name no label of your own"
ROUTE = service_object("chat", "ml", "route")


def route(*parents: Manifest, name: str = "foreign", kind: str = "HTTPRoute", **metadata: Any) -> Manifest:
    made = gateway_object(kind, name, "ml", {"parentRefs": list(parents)})
    return {**made, "metadata": {**made["metadata"], **metadata}}


def policy(spec: Manifest, kind: str = "SecurityPolicy", namespace: str = "ml") -> Manifest:
    return envoy_object(kind, "foreign", namespace, spec)


def backend(name: str, namespace: str) -> Manifest:
    fqdn = {"hostname": "eu-1.example.org", "port": 443}
    return envoy_object("Backend", name, namespace, {"type": "Endpoints", "endpoints": [{"fqdn": fqdn}]})


def tls_policy(of: str) -> Manifest:
    trust = {"hostname": "eu-1.example.org", "wellKnownCACertificates": "System"}
    to = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": of}
    return gateway_object("BackendTLSPolicy", "foreign", "ml", {"targetRefs": [to], "validation": trust})


def trusted(name: str) -> Manifest:
    return authority_config_map(name, "ml", "pem")


def listeners(parent: Manifest) -> Manifest:
    listener = {"name": "own", "port": 8080, "protocol": "HTTP"}
    return gateway_object("ListenerSet", "foreign", "ml", {"parentRef": parent, "listeners": [listener]})


def labelled(**more: Any) -> Manifest:
    return policy({"targetSelectors": [BY_LABEL | {"matchLabels": {"app": "theirs"}} | more]})


def composed(manifest: Manifest, resource: str) -> Manifest:
    """Return an object as Crossplane has composed it under a composition resource name."""
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {RESOURCE_NAME: resource}}}


#: A name of which nothing but a letter is left where it is cut and dashes are stripped.
DASHES = "a" + 55 * "-" + "b"
#: What an earlier version has called a route.
EARLIER = "chat-route-323a79fb"
OURS = {"name": PUBLIC_GATEWAY, "namespace": SYSTEM_NAMESPACE}
THEIRS = {"name": PUBLIC_GATEWAY}
BY_NAME = {"targetRefs": [target("HTTPRoute", ROUTE)]}
BY_LABEL = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}
OF_THEIRS = {"targetRefs": [target("HTTPRoute", "theirs")]}
FOREIGN: dict[str, tuple[Manifest, str]] = {
    "a route to the public Gateway": (route(OURS), ROUTE_WORDS),
    "one of two parents": (route(THEIRS, OURS | {"sectionName": "http"}), ROUTE_WORDS),
    "a route to another Gateway of ours": (route({"name": "any", "namespace": SYSTEM_NAMESPACE}), ROUTE_WORDS),
    "a route in the system namespace": (unknown_paths("foreign", ["http"], "f"), ROUTE_WORDS),
    "a gRPC route": (route(OURS, kind="GRPCRoute"), ROUTE_WORDS),
    "listeners of the public Gateway": (listeners(OURS), ROUTE_WORDS),
    "a policy of the Gateway": (gateway_traffic_policy("foreign", SYSTEM_NAMESPACE, PUBLIC_GATEWAY), POLICY_WORDS),
    "a policy of a service's route": (policy(BY_NAME), POLICY_WORDS),
    "traffic of a service's route": (service_traffic_policy("t", "ml", ROUTE, Traffic("5m")) or {}, POLICY_WORDS),
    "how a service's Backend is trusted": (tls_policy(service_object("chat", "ml", "backend-0")), POLICY_WORDS),
    "a Backend of a service": (backend(service_object("chat", "ml", "backend-0"), "ml"), BACKEND_WORDS),
    "the Backend of the fleet URL": (backend("fleet", SYSTEM_NAMESPACE), BACKEND_WORDS),
    "a filter of a service": (backend_host(service_object("chat", "ml", "endpoint-host"), "ml"), BACKEND_WORDS),
    "the CA of a service's Backends": (trusted(service_object("chat", "ml", "authority")), TRUST_WORDS),
    "that of a service with the longest name": (trusted(service_object("s" * 63, "ml", "authority")), TRUST_WORDS),
    "that of a service whose name is all dashes": (trusted(service_object(DASHES, "ml", "authority")), TRUST_WORDS),
    "what says that it was composed as a CA": (composed(trusted("mine"), "authority"), TRUST_WORDS),
    "a policy of a route of an earlier version": (policy({"targetRefs": [target("HTTPRoute", EARLIER)]}), POLICY_WORDS),
    "a Backend of an earlier version": (backend(EARLIER, "ml"), BACKEND_WORDS),
    "keys of a service's callers": (
        caller_keys(service_object("chat", "ml", "caller-keys"), "ml", {"ann": "YQ=="}),
        TRUST_WORDS,
    ),
    "a provider's CA": (
        provider_secret(endpoint_object("groq", "ml", "authority"), "ml", "ca.crt", "YQ=="),
        TRUST_WORDS,
    ),
    "a provider's credential": (
        provider_secret(endpoint_object("groq", "ml", "credential"), "ml", "credential", "YQ=="),
        TRUST_WORDS,
    ),
    "a policy of any route": (policy({"targetSelectors": [BY_LABEL]}), SELECTOR_WORDS),
    "of routes in all namespaces": (labelled(namespaces={"from": "All"}), NAMESPACE_WORDS),
    "of routes in others": (labelled(namespaces={"from": "Selector", "selector": {}}), NAMESPACE_WORDS),
    "of what a service composed": (
        policy({"targetSelectors": [BY_LABEL | {"matchLabels": {"crossplane.io/composite": "chat"}}]}),
        SELECTOR_WORDS,
    ),
}
ALLOWED = {
    "a CA of its own": trusted("my-authority"),
    "what another tool has given a name": trusted("my-tools-1234abcd"),
    "with a longer hash": trusted("my-tools-0123456789abcdef"),
    "what something else of Crossplane's is composed of": composed(trusted("database"), "connection"),
    "a route to a Gateway of its own": route(THEIRS),
    "a route to none": gateway_object("HTTPRoute", "foreign", "ml", {}),
    "a policy of its own route": policy(OF_THEIRS),
    "a Backend of its own": backend("mine", "ml"),
    "a filter of its own": backend_host("mine", "ml"),
    "of routes with its own label": labelled(),
    "of routes with its own label in its namespace": labelled(namespaces={"from": "Same"}),
    "listeners of a Gateway of its own": listeners(THEIRS),
}


@pytest.fixture(scope="module")
def guarded(server: Server) -> Iterator[Server]:
    """Apply the policies of install/, and give everybody every right: only admission refuses."""
    subjects = [
        {"kind": "User", "apiGroup": RBAC, "name": f"system:serviceaccount:{ACCOUNTS[user]}"}
        for user in (CROSSPLANE, TEAM)
    ]
    everything = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    metadata = {"name": "everybody"}
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": metadata}
    everybody = {**binding, "roleRef": everything, "subjects": subjects}
    with installed(server, "admission.yaml", everybody) as running:
        yield running


@pytest.mark.parametrize("user", [TEAM, ADMIN])
@pytest.mark.parametrize(("manifest", "words"), FOREIGN.values(), ids=FOREIGN)
def test_nobody_but_crossplane_attaches_to_the_gateway(
    guarded: Server, manifest: Manifest, words: str, user: str
) -> None:
    assert words in refusal(guarded, user, manifest)


@pytest.mark.parametrize("manifest", [each for each, _ in FOREIGN.values()], ids=FOREIGN)
def test_crossplane_attaches_to_the_gateway(guarded: Server, manifest: Manifest) -> None:
    assert refusal(guarded, CROSSPLANE, manifest) == ""


@pytest.mark.parametrize("user", [TEAM, ADMIN, CROSSPLANE])
@pytest.mark.parametrize("manifest", ALLOWED.values(), ids=ALLOWED)
def test_what_is_somebodys_own_is_left_alone(guarded: Server, manifest: Manifest, user: str) -> None:
    assert refusal(guarded, user, manifest) == ""


#: What somebody changes of a route that Crossplane made: whether that is refused.
CHANGES: dict[str, tuple[Manifest, bool]] = {
    "where it leads": ({"spec": {"rules": [{"backendRefs": [{"name": "mine", "port": 80}]}]}}, True),
    "that it is attached": ({"spec": {"parentRefs": [THEIRS]}}, True),
    "a label, for a policy to select it by": ({"metadata": {"labels": {"app": "mine"}}}, True),
    "its finalizers, as the garbage collector does": ({"metadata": {"finalizers": ["example.org/wait"]}}, False),
}


@pytest.mark.parametrize(("change", "refused"), CHANGES.values(), ids=CHANGES)
def test_nobody_but_crossplane_changes_a_route_of_the_gateway(guarded: Server, change: Manifest, refused: bool) -> None:
    made = route(OURS, name=ROUTE)
    path = guarded.path(made)
    crossplane, team = (guarded.cluster.api_of(user) for user in (CROSSPLANE, TEAM))
    crossplane.request("POST", path, made)
    try:
        assert (ROUTE_WORDS in refusal_of_change(team, f"{path}/{ROUTE}", change)) is refused
        assert refusal_of_change(crossplane, f"{path}/{ROUTE}", change) == ""
    finally:
        crossplane.request("DELETE", f"{path}/{ROUTE}")


#: What somebody changes of a CA that Crossplane made: whether that is refused.
TRUST: dict[str, tuple[Manifest, bool]] = {
    "whom it trusts": ({"data": {"ca.crt": "no certificate"}}, True),
    "bytes that are no text": ({"binaryData": {"ca": "/w=="}}, True),
    "that nobody may change it, so that no certificate can be renewed": ({"immutable": True}, True),
    "its finalizers, as the garbage collector does": ({"metadata": {"finalizers": ["example.org/wait"]}}, False),
}
#: CAs by which they are known: the names that this version gives, and what an earlier version has made, of which the
#: first could be the name of anything.
CAS: dict[str, Manifest] = {
    "by its name": trusted(service_object("chat", "ml", "authority")),
    "by what it was composed as": composed(trusted("a-79be4b92"), "authority"),
    "by both": composed(trusted(service_object(DASHES, "ml", "authority")), "authority"),
}


@pytest.mark.parametrize("user", [TEAM, ADMIN])
@pytest.mark.parametrize(("change", "refused"), TRUST.values(), ids=TRUST)
@pytest.mark.parametrize("made", CAS.values(), ids=CAS)
def test_nobody_but_crossplane_changes_what_a_route_refers_to(
    guarded: Server, made: Manifest, change: Manifest, refused: bool, user: str
) -> None:
    path, name = guarded.path(made), made["metadata"]["name"]
    crossplane, other = (guarded.cluster.api_of(each) for each in (CROSSPLANE, user))
    crossplane.request("POST", path, made)
    try:
        assert (TRUST_WORDS in refusal_of_change(other, f"{path}/{name}", change)) is refused
        assert refusal_of_change(crossplane, f"{path}/{name}", change) == ""
    finally:
        crossplane.request("DELETE", f"{path}/{name}")


@pytest.mark.parametrize("user", [TEAM, ADMIN])
def test_what_a_route_refers_to_makes_room_for_nothing_else_of_its_name(guarded: Server, user: str) -> None:
    crossplane, other = (guarded.cluster.api_of(each) for each in (CROSSPLANE, user))
    for made in CAS.values():
        path, name = guarded.path(made), made["metadata"]["name"]
        crossplane.request("POST", path, made)
        try:
            other.request("DELETE", f"{path}/{name}")
        except ApiError as error:
            assert TRUST_WORDS in str(error)
            crossplane.request("DELETE", f"{path}/{name}")
        else:
            assert TRUST_WORDS in refusal(guarded, user, trusted(name))


def test_what_a_route_refers_to_goes_with_its_namespace(guarded: Server) -> None:
    api, where = guarded.cluster.api, "routes-doomed"
    api.apply(namespace(where))
    for made in CAS.values():
        moved = {**made, "metadata": {**made["metadata"], "namespace": where}}
        guarded.cluster.api_of(CROSSPLANE).request("POST", guarded.path(moved), moved)
    with guarded.cluster.controllers(EVERYWHERE, "--use-service-account-credentials"):
        api.request("DELETE", f"/api/v1/namespaces/{where}")
        eventually(lambda: _assert_gone(api, where), within=START)


def _assert_gone(api: Api, where: str) -> None:
    found = api.request("GET", f"/api/v1/namespaces/{where}/configmaps")["items"]
    assert {each["metadata"]["name"] for each in found} & {each["metadata"]["name"] for each in CAS.values()} == set()
