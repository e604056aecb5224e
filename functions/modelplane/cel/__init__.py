"""Device selectors: the CEL of Kubernetes DRA over declared devices.

`compile(text)` returns a `Selector`, and `compiled(text)` the same from a cache. `verdict(text, device)` returns a
cached verdict. `measure` evaluates a compiled selector on a `subject(device)` and also returns the work that it took.
`reads` returns what selectors depend on. Whatever Kubernetes refuses is refused, and so is whatever this engine would
evaluate differently: a selector never fails silently to match.
"""

from modelplane.cel.devices import DeviceError, Subject, problems, qualified, read, weigh_device
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
    "qualified",
    "read",
    "reads",
    "seen",
    "subject",
    "verdict",
    "weigh_device",
]
