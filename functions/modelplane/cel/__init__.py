"""Device selectors: the CEL of Kubernetes DRA over declared devices.

`compile(text)` gives a `Selector`, `verdict(text, device)` what it says about a device, memoised. What Kubernetes
refuses is refused, and so is what this engine would not do as Kubernetes does: a selector never silently misses.
"""

from modelplane.cel.devices import DeviceError, problems, read
from modelplane.cel.memory import compiled, verdict
from modelplane.cel.selector import Selector, compile  # noqa: A004 (the name of what it does)
from modelplane.cel.source import MAX_CHARACTERS, MAX_SELECTORS
from modelplane.cel.verdict import Outcome, SelectorError, Verdict

__all__ = [
    "MAX_CHARACTERS",
    "MAX_SELECTORS",
    "DeviceError",
    "Outcome",
    "Selector",
    "SelectorError",
    "Verdict",
    "compile",
    "compiled",
    "problems",
    "read",
    "verdict",
]
