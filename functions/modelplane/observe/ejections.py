"""How many endpoints of each HTTPRoute the public gateway has ejected, from the statistics of its Envoys.

Envoy Gateway puts them into no status. Every Envoy of it has them at a port that serves statistics and nothing else.
"""

import http.client
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from modelplane.model.names import ENVOY_NAMESPACE, PUBLIC_GATEWAY
from modelplane.observe.api_server import ApiServer

#: Seconds that an Envoy may take, and the most bytes of its answer that are read.
_PATIENCE: Final = 5.0
_LARGEST: Final = 4 * 2**20
#: Envoys that are asked at one time.
_TOGETHER: Final = 8
#: The most routes that are published, those with the most ejected endpoints first: a ConfigMap has 1 MiB.
MOST_ROUTES: Final = 2000
_SLICES: Final = (
    f"/apis/discovery.k8s.io/v1/namespaces/{ENVOY_NAMESPACE}/endpointslices"
    f"?labelSelector=kubernetes.io%2Fservice-name%3D{PUBLIC_GATEWAY}"
)
_STATISTICS: Final = f"/stats/prometheus?usedonly&filter={quote('outlier_detection.ejections_active$')}"
#: A line of a route's cluster, by the name that Envoy Gateway gives it.
_LINE: Final = re.compile(
    r"^envoy_cluster_outlier_detection_ejections_active\{(?:.*,)?"
    r'envoy_cluster_name="httproute/([a-z0-9-]{1,63}/[a-z0-9.-]{1,253})/rule/[^"]*"[^}]*\} (\d{1,6})$'
)


def parse(statistics: str) -> dict[str, int]:
    """Return the ejected endpoints of each route, `<namespace>/<name>`, that has some."""
    counts: dict[str, int] = {}
    for line in statistics.splitlines():
        found = _LINE.match(line)
        if found and int(found[2]):
            counts[found[1]] = counts.get(found[1], 0) + int(found[2])
    return counts


def addresses(slices: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of the ready endpoints in a list of EndpointSlices."""
    for each in slices.get("items") or ():
        for endpoint in each.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                yield from endpoint.get("addresses") or ()


def merge(envoys: list[dict[str, int]]) -> dict[str, int]:
    """Return the most that any Envoy has ejected of each route: each ejects by what it has seen itself."""
    routes = {route for counts in envoys for route in counts}
    merged = {route: max(counts.get(route, 0) for counts in envoys) for route in routes}
    most = sorted(merged, key=lambda route: (-merged[route], route))[:MOST_ROUTES]
    return {route: merged[route] for route in sorted(most)}


@dataclass(frozen=True, slots=True)
class Gateway:
    """The public gateway. Each of its Envoys has its statistics at `port`."""

    server: ApiServer
    port: int

    def read(self) -> dict[str, int] | None:
        """Return the ejected endpoints of each route, None if no Envoy says so. Raises LiveError."""
        found = sorted({*addresses(self.server.get(_SLICES))})
        with ThreadPoolExecutor(_TOGETHER) as pool:
            answered = [each for each in pool.map(self._ask, found) if each is not None]
        return merge(answered) if answered else None

    def _ask(self, address: str) -> dict[str, int] | None:
        connection = http.client.HTTPConnection(address, self.port, timeout=_PATIENCE)
        try:
            connection.request("GET", _STATISTICS)
            answer = connection.getresponse()
            text = answer.read(_LARGEST).decode(errors="replace")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        return parse(text) if answer.status == http.HTTPStatus.OK else None
