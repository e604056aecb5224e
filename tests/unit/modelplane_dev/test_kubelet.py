"""The fake kubelet reports as a kubelet does, so that what Modelplane makes of it is not the fake's own mistake."""

from typing import Any

import pytest

from modelplane_dev.plane.engines import ALL, DOCUMENTED, LOOPBACK
from modelplane_dev.plane.kubelet import Probing, termination_message

LOGGED = {"terminationMessagePolicy": "FallbackToLogsOnError"}
LOG = b"".join(b"line %d\n" % number for number in range(200))


def test_the_termination_message_is_the_end_of_the_log_of_what_failed_and_only_by_that_policy() -> None:
    assert termination_message(LOGGED, 1, LOG).splitlines() == [f"line {number}" for number in range(120, 200)]
    assert termination_message(LOGGED, 1, b"a" * 5000 + b"b") == "a" * 2047 + "b"
    assert termination_message(LOGGED, 0, LOG) == ""
    assert termination_message({}, 1, LOG) == ""


def test_a_probe_fails_once_it_has_failed_often_enough_in_a_row_and_is_asked_in_its_period() -> None:
    probing = Probing({"periodSeconds": 10, "failureThreshold": 2, "httpGet": {"path": "/", "port": 80}})
    answers = iter([False, True, False, False])
    asked = [probing.look(lambda *_: next(answers), at) for at in (0, 5, 10, 20, 25, 30)]
    assert asked == [False, False, False, False, False, True]


@pytest.mark.parametrize(
    ("name", "container", "expected"),
    [
        ("vllm", {"args": ["--port", "9000"]}, (ALL, 9000)),
        ("sglang", {"args": ["--model-path=m"]}, (LOOPBACK, 30000)),
        ("tensorrt-llm", {"args": ["--host=localhost"]}, (LOOPBACK, 8000)),
        ("tgi", {"env": [{"name": "PORT", "value": "9000"}]}, (ALL, 9000)),
        ("llama-cpp", {"command": ["sh", "-c", "llama-server --port 9000"]}, (ALL, 9000)),
        ("ollama", {"env": [{"name": "OLLAMA_HOST", "value": "127.0.0.1:9000"}]}, (LOOPBACK, 9000)),
    ],
)
def test_a_fake_engine_listens_where_its_documentation_says(
    name: str, container: dict[str, Any], expected: tuple[str, int]
) -> None:
    assert DOCUMENTED[name].listens_at(container) == expected
