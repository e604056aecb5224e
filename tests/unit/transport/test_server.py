"""The server as a process, called as Crossplane calls it."""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as sdk
from crossplane.function.proto.v1 import run_function_pb2_grpc as stubs

from modelplane.transport.admission import THREADS
from modelplane_dev.plane.waiting import eventually
from unit.transport.messages_by_sdk import plain, request_of
from unit.transport.server_processes import PATIENCE, STOP, Server, server_of

_MIB = 1024 * 1024
_SERVING = b"\x08\x01"


def _composite(kind: str, name: str = "a", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "test/v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}, "spec": spec}


class Gate:
    """What long calls wait for: they end when the test says so, however long the machine takes for all else."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def held(self, kind: str, name: str, **spec: Any) -> dict[str, Any]:
        """Return a composite, of a name of its own, whose call ends once the gate is open."""
        return _composite(kind, name, gate=str(self._file), **spec)

    def holds(self, number: int) -> None:
        """Wait until so many calls have begun."""

        def begun() -> None:
            assert len(list(self._file.parent.glob(f"{self._file.name}-*"))) == number

        eventually(begun, within=PATIENCE)

    def open(self) -> None:
        """Let the calls end."""
        self._file.touch()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """Give a gate that is open when the test ends."""
    made = Gate(tmp_path / "gate")
    yield made
    made.open()


def _check(channel: grpc.Channel) -> bytes:
    answer: bytes = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=PATIENCE)
    return answer


def _fatal(response: sdk.RunFunctionResponse) -> str:
    assert [result.severity for result in response.results] == [sdk.SEVERITY_FATAL]
    return response.results[0].message


def test_a_call_is_answered(runner: stubs.FunctionRunnerServiceStub) -> None:
    response = runner.RunFunction(request_of(_composite("Busy")))
    assert plain(response.desired.composite)["resource"]["status"] == {"computed": True}
    assert response.meta.tag == "tag"


@pytest.mark.parametrize(
    ("composite", "words"),
    [
        (_composite("Broken"), "ValueError: what was not thought of"),
        (_composite("Unbuildable"), "ValueError: Unexpected type"),
        (_composite("Unheard"), "function tested composes no Unheard"),
        (
            _composite("Big", mebibytes=4),
            "the response is too large, at most 3.5 MiB can be sent: 2 ConfigMap of 4.0 MiB",
        ),
    ],
)
def test_what_fails_is_fatal_and_keeps_what_the_earlier_steps_desire(
    runner: stubs.FunctionRunnerServiceStub, composite: dict[str, Any], words: str
) -> None:
    request = request_of(composite, desired={"early": {"kind": "ConfigMap"}})
    response = runner.RunFunction(request)
    assert words in _fatal(response)
    assert response.desired == request.desired


def test_a_request_of_nearly_64_mebibytes_is_taken(runner: stubs.FunctionRunnerServiceStub) -> None:
    request = request_of(_composite("Counted"), required={"all": [{"kind": "A", "text": "x" * _MIB}] * 63})
    assert request.ByteSize() > 63 * _MIB
    response = runner.RunFunction(request)
    assert plain(response.desired.composite)["resource"]["status"] == {"required": 63}


def test_a_larger_request_is_refused(runner: stubs.FunctionRunnerServiceStub) -> None:
    request = request_of(_composite("Counted"), required={"all": [{"kind": "A", "text": "x" * _MIB}] * 65})
    with pytest.raises(grpc.RpcError) as refused:
        runner.RunFunction(request)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_bytes_that_are_no_request_are_an_invalid_argument(channel: grpc.Channel) -> None:
    call = channel.unary_unary("/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction")
    with pytest.raises(grpc.RpcError) as refused:
        call(b"\xff\xff")
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_health_and_short_calls_are_answered_while_long_ones_compute(
    channel: grpc.Channel, runner: stubs.FunctionRunnerServiceStub, gate: Gate
) -> None:
    long = [runner.RunFunction.future(request_of(gate.held("Busy", f"long-{number}"))) for number in range(3)]
    gate.holds(3)
    assert _check(channel) == _SERVING
    runner.RunFunction(request_of(_composite("Counted")), timeout=PATIENCE)
    assert not any(call.done() for call in long)
    gate.open()
    results = [plain(call.result(PATIENCE).desired.composite)["resource"]["status"] for call in long]
    assert results == [{"computed": True}] * 3


def test_health_is_answered_at_once_while_more_calls_wait_than_there_are_threads(server: Server, gate: Gate) -> None:
    with grpc.insecure_channel(server.address) as channel:
        run = stubs.FunctionRunnerServiceStub(channel).RunFunction
        calls = [run.future(request_of(gate.held("Busy", f"long-{number}"))) for number in range(THREADS + 1)]
        gate.holds(THREADS)
        # The fastest answer counts: whatever else the machine does makes the others slower.
        assert min(_seconds_of_check(channel) for _ in range(5)) < 5
        assert not any(call.done() for call in calls)
        gate.open()
        for call in calls:
            call.result(PATIENCE)


def _seconds_of_check(channel: grpc.Channel) -> float:
    began = time.monotonic()
    assert _check(channel) == _SERVING
    return time.monotonic() - began


def test_the_log_has_a_line_a_call_with_names_and_counts(server: Server) -> None:
    with grpc.insecure_channel(server.address) as channel:
        request = request_of(_composite("Counted"), observed={"x": {"kind": "A"}}, required={"r": [{"kind": "B"}] * 2})
        stubs.FunctionRunnerServiceStub(channel).RunFunction(request)
    line = server.logged()[-1]
    assert line.pop("milliseconds") >= 0
    assert line.pop("waited_milliseconds") >= 0
    assert line.pop("timestamp")
    assert line.pop("received_bytes") == request.ByteSize()
    assert line.pop("sent_bytes") > 0
    assert line == {
        "level": "info",
        "msg": "answered",
        "kind": "Counted",
        "namespace": "n",
        "name": "a",
        "observed": 1,
        "required": 2,
        "desired": 0,
        "requirements": 0,
        "cached": False,
    }


def test_the_log_has_the_traceback_of_a_defect(server: Server) -> None:
    with grpc.insecure_channel(server.address) as channel:
        stubs.FunctionRunnerServiceStub(channel).RunFunction(request_of(_composite("Broken")))
    traced = [line for line in server.logged() if line["level"] == "error"]
    assert [line["composite"] for line in traced] == ["Broken n/a"]
    assert "in _raise" in traced[0]["exception"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_asked_to_stop_finishes_its_calls_and_exits_with_0(
    server: Server, gate: Gate, number: int
) -> None:
    def stopping() -> None:
        assert [line for line in server.logged() if line["msg"].startswith("stopping")]

    with grpc.insecure_channel(server.address) as channel, ThreadPoolExecutor() as caller:
        run = stubs.FunctionRunnerServiceStub(channel).RunFunction
        call = caller.submit(run, request_of(gate.held("Busy", "long")))
        gate.holds(1)
        server.process.send_signal(number)
        eventually(stopping, within=PATIENCE)
        time.sleep(0.2)  # It stops once it has said so. Within less than the grace period, in which the call ends.
        gate.open()
        assert plain(call.result(PATIENCE).desired.composite)["resource"]["status"] == {"computed": True}
        assert server.process.wait(STOP) == 0


def test_a_server_that_is_asked_to_stop_again_and_again_exits_with_0(server: Server) -> None:
    for number in (signal.SIGTERM, signal.SIGINT) * 200:
        server.process.send_signal(number)
    assert server.process.wait(STOP) == 0


def test_a_second_server_on_a_port_is_an_error(shared_server: Server) -> None:
    taken = server_of(["-m", "unit.transport.served", f"127.0.0.1:{shared_server.port}"])
    with pytest.raises(AssertionError, match="cannot listen"), taken:
        pass


def test_a_port_beyond_the_last_is_an_error_and_no_other_port_is_taken() -> None:
    with (
        pytest.raises(AssertionError, match="ports end at 65535"),
        server_of(["-m", "unit.transport.served", "127.0.0.1:99999"]),
    ):
        pass


def test_with_certificates_only_callers_of_the_same_authority_are_answered(certificates: Path) -> None:
    ca, key, chain = ((certificates / name).read_bytes() for name in ("ca.crt", "tls.key", "tls.crt"))
    with server_of(["-m", "unit.transport.served", "localhost:0", str(certificates)]) as server:
        with grpc.secure_channel(server.address, grpc.ssl_channel_credentials(ca, key, chain)) as channel:
            assert _check(channel) == _SERVING
            stubs.FunctionRunnerServiceStub(channel).RunFunction(request_of(_composite("Counted")))
        for stranger in (grpc.ssl_channel_credentials(ca), None):
            opened = (
                grpc.secure_channel(server.address, stranger) if stranger else grpc.insecure_channel(server.address)
            )
            with opened as channel, pytest.raises(grpc.RpcError) as refused:
                _check(channel)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def _peak(server: Server) -> int:
    """Return the most memory that a server ever had resident, in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def test_many_large_calls_at_once_are_all_answered_in_the_memory_of_a_few(server: Server, gate: Gate) -> None:
    text = {"all": [{"kind": "A", "text": "x" * _MIB}] * 8}
    # All of them, one at a time, take two seconds at least: the small one arrives before the last is computed.
    first, large = (
        request_of(composite, required=text)
        for composite in (gate.held("Counted", "first"), _composite("Counted", seconds=0.05))
    )
    idle = _peak(server)
    with grpc.insecure_channel(server.address, options=[("grpc.max_send_message_length", -1)]) as channel:
        run = stubs.FunctionRunnerServiceStub(channel).RunFunction
        calls = [run.future(first)]
        gate.holds(1)
        calls += [run.future(large) for _ in range(39)]
        small = run.future(request_of(_composite("Busy")))
        gate.open()
        counts = [plain(call.result(PATIENCE).desired.composite)["resource"]["status"]["required"] for call in calls]
        small.result(PATIENCE)
    assert counts == [8] * 40
    answered = [line["kind"] for line in server.logged() if line["msg"] == "answered"]
    assert len(answered) == 41
    assert answered[-1] != "Busy"  # the small call was not the last to be answered
    assert _peak(server) - idle < 80  # of the 320 that the requests are
