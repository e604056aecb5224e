"""A Gateway that the public one alone may call, by mutual TLS: that of an inference cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.kube.gateway.filters import direct_response
from modelplane.kube.gateway.proxy import FROM_ALL, envoy_proxy, https_gateway
from modelplane.kube.gateway.route import unknown_paths
from modelplane.kube.gateway.traffic import LARGE_BUFFER, client_traffic_policy, hop_traffic_policy
from modelplane.model.names import LABEL_GATEWAY, LISTENER_HTTPS, SYSTEM_NAMESPACE

#: After how long a connection takes no more requests.
_RENEWED: Final = "10m"
_UNKNOWN: Final = "There is no endpoint of this name here."


@dataclass(frozen=True, slots=True)
class PrivateGateway:
    """What the objects of such a Gateway are made of. All are in the system namespace and called `name`.

    `certificate` is the Secret with its pair, `authority` the ConfigMap with the CA that it knows callers by.
    `namespaces` says where routes may come from (allowedRoutes), `service_type` how its Service is reached.
    `to_copies`: it leads to pods of which several are alike. With `alone` its pods listen on no other port, and
    connections are replaced now and then: nothing tells them of its end. `buffer` are the bytes of a request that it
    holds.
    """

    name: str
    class_name: str
    certificate: str
    authority: str
    namespaces: Mapping[str, Any] = field(default_factory=lambda: FROM_ALL)
    service_type: str = "LoadBalancer"
    replicas: int = 2
    to_copies: bool = False
    alone: bool = False
    buffer: int = LARGE_BUFFER

    def surroundings(self) -> dict[str, dict[str, Any]]:
        """Return the objects that must exist before the Gateway (its pods, policies and answers), by role."""
        at = (self.name, SYSTEM_NAMESPACE)
        return {
            "envoy-proxy": envoy_proxy(*at, replicas=self.replicas, service_type=self.service_type, alone=self.alone),
            "client-traffic-policy": client_traffic_policy(
                *at,
                self.name,
                authority=self.authority,
                buffer=self.buffer,
                renewed=_RENEWED if self.alone else None,
            ),
            "traffic-policy": hop_traffic_policy(*at, self.name, to_copies=self.to_copies),
            "answer-503": direct_response(*at, status=503, message=_UNKNOWN, code="unavailable"),
        }

    def gateway(self) -> dict[str, Any]:
        """Return the Gateway, with the label by which it is known as Modelplane's."""
        made = https_gateway(
            self.name,
            SYSTEM_NAMESPACE,
            class_name=self.class_name,
            proxy=self.name,
            certificate=self.certificate,
            namespaces=self.namespaces,
        )
        return {**made, "metadata": {**made["metadata"], "labels": {LABEL_GATEWAY: "true"}}}

    def unknown_hosts(self) -> dict[str, Any]:
        """Return the HTTPRoute that answers 503 to any other host: a replica that is gone is tried elsewhere."""
        return unknown_paths(self.name, [LISTENER_HTTPS], self.name, gateway=self.name)
