"""Device selectors: the CEL of Kubernetes DRA over declared devices.

`compile(text)` gives a `Selector`, `verdict(text, device)` what it says about a device, memoised; `measure` evaluates
what `compiled` gives now, on a `subject(device)`, and tells the work, `reads` what it depends on. What Kubernetes
refuses is refused, and so is what this engine would not do as Kubernetes does: a selector never silently misses.
"""

from modelplane.cel.devices import DeviceError, Subject, problems, read, weigh_device
from modelplane.cel.hints import keys_there
from modelplane.cel.memory import compiled, measure, reads, subject, verdict
from modelplane.cel.reads import Name, Reads, narrowed, seen
from modelplane.cel.selector import Selector, compile  # noqa: A004 (the name of what it does)
from modelplane.cel.source import MAX_CHARACTERS, MAX_SELECTORS
from modelplane.cel.verdict import Outcome, SelectorError, Verdict

__all__ = [
    "MAX_CHARACTERS",
    "MAX_SELECTORS",
    "DeviceError",
    "Name",
    "Outcome",
    "Reads",
    "Selector",
    "SelectorError",
    "Subject",
    "Verdict",
    "compile",
    "compiled",
    "keys_there",
    "measure",
    "narrowed",
    "problems",
    "read",
    "reads",
    "seen",
    "subject",
    "verdict",
    "weigh_device",
]
