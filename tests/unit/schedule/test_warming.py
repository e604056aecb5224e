"""What a process does before it says that it is ready."""

import os
import subprocess
import sys

import pytest

from modelplane import schedule
from modelplane.cli import serve

#: Compiles a selector in a process that has been warmed, and tells how many grammars were loaded for it.
_AFTER = """
from modelplane import schedule
from modelplane.cel import compile, parser

schedule.warm()
loads = []
load = parser._load
parser._load = lambda *given: loads.append(given) or load(*given)
compile('device.driver == "gpu.example.com"')
print(len(loads))
"""


def test_the_first_selector_of_a_warm_process_waits_for_no_grammar() -> None:
    done = subprocess.run([sys.executable, "-c", _AFTER], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")


#: Makes a pass in a process that has been warmed, and tells which modules it imported.
_FIRST = """
import sys
from modelplane import schedule
from unit.schedule.objects import Server, cluster, deployment, replica, run

schedule.warm()
there = set(sys.modules)
result, _ = run(deployment(), Server(cluster("a"), replica("a", owner="other"), cluster("b")))
print(result.status["unplaced"], sorted(set(sys.modules) - there))
"""


def test_the_first_pass_of_a_warm_process_imports_nothing() -> None:
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _FIRST], capture_output=True, text=True, check=False, env=path)
    assert (done.stdout, done.stderr) == ("0 []\n", "")


def test_a_function_is_warm_before_its_server_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(schedule, "warm", lambda: done.append("warm"))
    monkeypatch.setattr(serve, "serve", lambda *_: done.append("listening"))
    monkeypatch.setattr(serve, "configure_logs", lambda **_: None)
    serve.command.main(["schedule", "--insecure"], standalone_mode=False)
    assert done == ["warm", "listening"]
