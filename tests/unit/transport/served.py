"""A server with steps made for tests: `python -m unit.transport.served ADDRESS [CERTIFICATES]`."""

import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from modelplane.cli.logs import configure_logs
from modelplane.step import Desired, Request, Result, Step
from modelplane.step.call import dispatch
from modelplane.transport.exchange import answer
from modelplane.transport.server import Settings, serve

_MIB = 1024 * 1024


def _spec(request: Request) -> Mapping[str, Any]:
    spec = request.composite.body["spec"]
    assert isinstance(spec, Mapping)
    return spec


def _compute(request: Request) -> Result:
    """Keep the processor busy until a gate opens, as scheduling on a large fleet does; tell that it has begun."""
    gate = _gate(request)
    while gate is not None and not gate.exists():
        for _ in range(1000):
            sum(range(1000))
    return Result(status={"computed": True})


def _count(request: Request) -> Result:
    gate = _gate(request)
    while gate is not None and not gate.exists():
        time.sleep(0.01)
    time.sleep(float(_spec(request).get("seconds", 0)))
    return Result(status={"required": sum(len(found) for found in request.required.values())})


def _gate(request: Request) -> Path | None:
    """Return the file that a call waits for, None for one that does not wait; leave a file beside it."""
    if "gate" not in _spec(request):
        return None
    gate = Path(_spec(request)["gate"])
    gate.with_name(f"{gate.name}-{request.composite.name}").touch()
    return gate


def _grow(request: Request) -> Result:
    text = "x" * (int(_spec(request)["mebibytes"]) * _MIB)
    return Result(desired={"big": Desired.of({"kind": "ConfigMap", "text": text})})


def _raise(_request: Request) -> Result:
    raise ValueError("what was not thought of")


def _build_badly(_request: Request) -> Result:
    return Result(desired={"bad": Desired(build=lambda: {"a": object()})})


STEPS: Mapping[str, Step] = {
    "Busy": _compute,
    "Counted": _count,
    "Big": _grow,
    "Broken": _raise,
    "Unbuildable": _build_badly,
}


if __name__ == "__main__":
    configure_logs(debug=False)
    certificates = sys.argv[2] if len(sys.argv) > 2 else None
    serve(partial(answer, dispatch("tested", STEPS)), Settings(sys.argv[1], certificates, 64 * _MIB))
