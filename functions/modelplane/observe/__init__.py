"""The process that reads, again and again, what no object of the control cluster says, and publishes it there.

Crossplane calls a function with objects alone. What is known only to a running gateway gets into one here: a ConfigMap
of a fixed name, which functions require. Nothing that serves depends on it.
"""

from modelplane.observe.api_server import ApiServer
from modelplane.observe.ejections import Gateway
from modelplane.observe.publish import Entry, publish

__all__ = ["ApiServer", "Entry", "Gateway", "publish"]
