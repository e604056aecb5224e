"""What Crossplane's circuit breakers have counted."""

import re
import urllib.request

from modelplane_dev.plane.control_plane import ControlPlane


def judged(plane: ControlPlane, what: str) -> dict[str, float]:
    """Return how many "opens" or "events" of breakers Crossplane has counted since it started, by controller."""
    url = f"http://127.0.0.1:{plane.core.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=60) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    pattern = rf'^circuit_breaker_{what}_total\{{controller="([^"]+)".*\}} (\S+)$'
    for controller, count in re.findall(pattern, text, re.MULTILINE):
        found[controller] = found.get(controller, 0) + float(count)
    return found
