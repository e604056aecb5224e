"""The process on an inference cluster that publishes what the nodes of its pools have.

Crossplane calls a function with objects alone, and a function has no clock. What changes with time on a cluster gets
into one object here: a ConfigMap, which the control cluster observes. Nothing that serves depends on it.
"""

from modelplane.inventory.document import encode, recall
from modelplane.inventory.memory import Remembered, inventory_of, settle
from modelplane.inventory.nodes import NodeKey, read_nodes
from modelplane.inventory.process import Lists, read_lists, run

__all__ = [
    "Lists",
    "NodeKey",
    "Remembered",
    "encode",
    "inventory_of",
    "read_lists",
    "read_nodes",
    "recall",
    "run",
    "settle",
]
