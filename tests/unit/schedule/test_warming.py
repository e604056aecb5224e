"""What a process does before it says that it is ready."""

import subprocess
import sys

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
