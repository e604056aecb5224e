"""Serves one of the small test functions: `python serve_step.py NAME ADDRESS`."""

import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "functions")]

from modelplane.transport.exchange import answer  # noqa: E402 - the path comes first
from modelplane.transport.server import Settings, serve  # noqa: E402
from render.steps import STEPS  # noqa: E402

if __name__ == "__main__":
    name, address = sys.argv[1:]
    serve(partial(answer, STEPS[name]), Settings(address, None, 64 * 1024 * 1024))
