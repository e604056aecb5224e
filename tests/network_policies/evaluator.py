"""Asks an independent evaluator, Cyclonus, what NetworkPolicies say of a packet.

It says what the policies mean by Kubernetes' rules, not what a cluster's network plugin makes of them.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from modelplane_dev import components


@dataclass(frozen=True, slots=True)
class Peer:
    """A pod as NetworkPolicies see it, or a host outside of the cluster if it has no namespace."""

    ip: str
    namespace: str = ""
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    pod_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packet:
    """The first packet of a connection to a port of `destination`."""

    source: Peer
    destination: Peer
    port: int
    protocol: str = "TCP"


def allowed(policies: Sequence[Mapping[str, Any]], packets: Sequence[Packet]) -> list[bool]:
    """Return whether the NetworkPolicies of a cluster allow each packet."""
    asked = {"policies": policies, "packets": [asdict(packet) for packet in packets]}
    command = [str(components.path("evaluate-policies"))]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[bool] = json.loads(done.stdout)
    return found
