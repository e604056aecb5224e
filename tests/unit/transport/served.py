"""A server with steps made for tests: `python -m unit.transport.served ADDRESS [CERTIFICATES]`."""

import sys
import time
from collections.abc import Mapping
from functools import partial
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
    """Keep the processor busy for a while, as scheduling on a large fleet does."""
    until = time.monotonic() + float(_spec(request)["seconds"])
    while time.monotonic() < until:
        sum(range(1000))
    return Result(status={"computed": True})


def _count(request: Request) -> Result:
    time.sleep(float(_spec(request).get("seconds", 0)))
    return Result(status={"required": sum(len(found) for found in request.required.values())})


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
