"""What a function tells Prometheus about its calls."""

import re
import threading
import time
import urllib.request
from collections.abc import Iterator

import grpc  # type: ignore[import-untyped]
import pytest
import structlog
from crossplane.function.proto.v1 import run_function_pb2_grpc as stubs
from prometheus_client.parser import text_string_to_metric_families

from modelplane.step import Request, Result, Step
from modelplane.step.call import dispatch
from modelplane.transport.admission import Received
from modelplane.transport.exchange import PATIENCE, answer
from modelplane.transport.metrics import Metrics
from modelplane.transport.server import ListenError
from modelplane_dev.processes.ports import free_port
from unit.transport.messages_by_sdk import request_of
from unit.transport.server_processes import server_of

_MAIN = "from modelplane.cli import main; main()"
_KIND = "InferenceClass"


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


def _scrape(port: int) -> dict[tuple[str, str, str], float]:
    """Return each sample by name, kind and outcome; of histograms without their buckets."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        text = response.read().decode()
    samples = (each for family in text_string_to_metric_families(text) for each in family.samples)
    return {
        (each.name.removeprefix("modelplane_function_"), each.labels.get("kind", ""), each.labels.get("outcome", "")): (
            each.value
        )
        for each in samples
        if not each.name.endswith("_bucket")
    }


def _raise(_request: Request) -> Result:
    raise RuntimeError("a defect")


def _of(result: Result) -> Step:
    return lambda _request: result


def _call(metrics: Metrics, step: Step, kind: str = _KIND, waited: float = 0.0) -> tuple[int, int]:
    """Return the bytes of the request and the response."""
    composite = {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": {"name": "a"}}
    wire = request_of(composite).SerializeToString()
    response = answer(dispatch("schedule", {_KIND: step}), Received(wire), waited, record=metrics.record)
    return len(wire), len(response)


@pytest.mark.parametrize(
    ("step", "kind", "waited", "counted"),
    [
        (_of(Result()), _KIND, 0.0, (_KIND, "answered")),
        (_of(Result(fatal="stop")), _KIND, 0.0, (_KIND, "refused")),
        (_of(Result()), _KIND, PATIENCE + 1, (_KIND, "refused")),
        (_raise, _KIND, 0.0, (_KIND, "failed")),
        (_of(None), _KIND, 0.0, (_KIND, "failed")),  # type: ignore[arg-type]
        (_of(Result()), 'a"} 7\nforged', 0.0, ("other", "refused")),
    ],
)
def test_a_call_is_counted_once_by_its_kind_and_how_it_ended(
    step: Step, kind: str, waited: float, counted: tuple[str, str]
) -> None:
    metrics = Metrics("schedule", [_KIND])
    received, sent = _call(metrics, step, kind, waited)
    found = _scrape(metrics.serve("127.0.0.1:0"))
    assert {by: value for by, value in found.items() if by[0] == "calls_total"} == {("calls_total", *counted): 1}
    named = counted[0]
    assert found["request_bytes_sum", named, ""] == received
    assert found["response_bytes_sum", named, ""] == sent
    assert found["waited_seconds_sum", named, ""] == waited
    assert found["duration_seconds_count", named, ""] == 1
    assert found["in_progress", "", ""] == 0


def test_the_time_that_a_step_takes_is_its_duration() -> None:
    metrics = Metrics("schedule", [_KIND])

    def slow(_request: Request) -> Result:
        time.sleep(0.2)
        return Result()

    began = time.perf_counter()
    _call(metrics, slow)
    assert (
        0.2 <= _scrape(metrics.serve("127.0.0.1:0"))["duration_seconds_sum", _KIND, ""] <= time.perf_counter() - began
    )


def test_a_scrape_is_answered_while_a_call_computes() -> None:
    metrics = Metrics("schedule", [_KIND])
    port = metrics.serve("127.0.0.1:0")
    computing, over = threading.Event(), threading.Event()

    def compute(_request: Request) -> Result:
        computing.set()
        while not over.is_set():
            sum(range(1000))
        return Result()

    thread = threading.Thread(target=metrics.counted(_call), args=(metrics, compute))
    thread.start()
    try:
        assert computing.wait(30)
        assert _scrape(port)["in_progress", "", ""] == 1
    finally:
        over.set()
        thread.join()
    assert _scrape(port)["in_progress", "", ""] == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("8080", "give HOST:PORT, such as 0.0.0.0:8080"),
        ("127.0.0.1:65536", "give HOST:PORT"),
        ("127.0.0.1:http", "give HOST:PORT"),
        ("192.0.2.1:8080", "cannot serve metrics at 192.0.2.1:8080: "),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_named(address: str, words: str) -> None:
    with pytest.raises(ListenError, match=re.escape(words)):
        Metrics("schedule", ()).serve(address)


def test_the_image_s_variable_is_enough_to_serve_metrics() -> None:
    port = free_port()
    environment = {"METRICS_ADDRESS": f"127.0.0.1:{port}"}
    arguments = ["-c", _MAIN, "serve", "schedule", "--insecure", "--address", "127.0.0.1:0"]
    with server_of(arguments, **environment) as server, grpc.insecure_channel(server.address) as channel:
        composite = {"apiVersion": "v1", "kind": "Foreign", "metadata": {"name": "a"}}
        stubs.FunctionRunnerServiceStub(channel).RunFunction(request_of(composite))
        assert _scrape(port)["calls_total", "other", "refused"] == 1
