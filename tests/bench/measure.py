"""Measures passes over gRPC: our functions and the yardstick, each a process of its own, in turns."""

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]

from bench.passes import Call, PassRun, Scene, run_pass
from modelplane.transport import messages
from modelplane_dev.processes.functions import Functions
from unit.transport.server_processes import PATIENCE, Server, server_of

_METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_MAIN = "from modelplane.cli import main; main()"
_SERVE = ("-c", _MAIN, "serve", "--insecure", "--address=127.0.0.1:0")
STEPS = ("schedule", "compose-replica", "compose-endpoint")


@dataclass(frozen=True, slots=True)
class Served:
    """The pipeline's functions, served and connected."""

    calls: Mapping[str, Call]
    servers: Mapping[str, Server]

    @property
    def addresses(self) -> dict[str, str]:
        """Return where each function listens."""
        return {name: server.address for name, server in self.servers.items()}

    def logged(self, name: str) -> list[dict[str, Any]]:
        """Return what a function has logged so far."""
        return self.servers[name].logged()

    def steps(self, *names: str) -> list[tuple[str, Call]]:
        """Return these steps of the pipeline, all when none is named."""
        return [(name, self.calls[name]) for name in names or STEPS]

    def resident(self, name: str) -> float:
        """Return the resident memory of a function's process, in MiB."""
        return self._memory(name, "VmRSS")

    def peak(self, name: str) -> float:
        """Return the most that a function's process ever had resident, in MiB."""
        return self._memory(name, "VmHWM")

    def processor_time(self, name: str) -> float:
        """Return the processor time that a function's process has spent so far, in seconds."""
        *_, user, system = (
            Path(f"/proc/{self.servers[name].process.pid}/stat").read_text().rpartition(")")[2].split()[:13]
        )
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _memory(self, name: str, field: str) -> float:
        status = Path(f"/proc/{self.servers[name].process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024


@contextlib.contextmanager
def served(*names: str) -> Iterator[Served]:
    """Serve functions, all of the pipeline's when none is named, in processes that have not answered a call."""
    with contextlib.ExitStack() as stack:
        with ThreadPoolExecutor() as starting:
            started = {
                name: starting.submit(stack.enter_context, server_of([*_SERVE, name])) for name in names or STEPS
            }
        servers = {name: each.result() for name, each in started.items()}
        calls = {name: stack.enter_context(_connected(server.address)) for name, server in servers.items()}
        yield Served(calls, servers)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Call]:
    with grpc.insecure_channel(address, options=_UNLIMITED) as channel:
        _connect(channel)
        yield channel.unary_unary(_METHOD)


def _connect(channel: grpc.Channel) -> None:
    """Wait until a channel is connected, by a call of what nobody serves.

    Rejected: `grpc.channel_ready_future` leaves a thread behind for a moment, which fails where the channel is closed.
    """
    try:
        channel.unary_unary("/nobody/Serves")(b"", timeout=PATIENCE, wait_for_ready=True)
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise


@contextlib.contextmanager
def yardstick(done: PassRun) -> Iterator[Sequence[tuple[Call, bytes]]]:
    """Serve bare functions that return the responses of a pass; yield their calls with the requests of that pass.

    A process for each step, as ours have: one process for all would be warm for every call but the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, exchange in enumerate(done.exchanges):
            files.append(str(Path(folder) / f"{number}"))
            Path(files[-1]).write_bytes(exchange.response)
        command = [sys.executable, str(Path(__file__).with_name("yardstick.py"))]
        with contextlib.ExitStack() as stack:
            functions = stack.enter_context(Functions(Path(folder), lambda _, address: [*command, address, *files]))
            steps = {one.step for one in done.exchanges}
            calls = {step: stack.enter_context(_connected(functions.address(step))) for step in sorted(steps)}
            yield [(calls[one.step], _tagged(one.request, number)) for number, one in enumerate(done.exchanges)]


def seconds_of(calls: Sequence[tuple[Call, bytes]]) -> float:
    """Return how long the caller waits for these calls, one after the other."""
    began = time.perf_counter()
    for call, request in calls:
        call(request)
    return time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of the fastest pass, of each of its steps, and of the yardstick for the same messages.

    The fastest, because everything that disturbs a measurement makes it slower. `sent`: bytes of all requests.
    """

    total: float
    steps: Mapping[str, float]
    yardstick: float
    yardsticks: Mapping[str, float]
    fetched: int
    sent: int


def timed(scenes: Sequence[Scene], on: Served, *steps: str, times: int) -> list[Timed]:
    """Return the times of passes over each scene; scenes and yardsticks take turns, so that noise hits all alike.

    A pass over a scene makes the same calls each time, so that those of the first one are made again: one right after
    the other, as those of the yardstick are, and without the work of building requests between them.
    """
    first = [run_pass(scene, on.steps(*steps)) for scene in scenes]
    with contextlib.ExitStack() as stack:
        echoes = [stack.enter_context(yardstick(done)) for done in first]
        calls = [[(on.calls[one.step], one.request) for one in done.exchanges] for done in first]
        spent: list[list[dict[str, float]]] = [[] for _ in scenes]
        bare: list[list[dict[str, float]]] = [[] for _ in scenes]
        for _ in range(times):
            for number, done in enumerate(first):
                spent[number].append(_by_step(done, calls[number]))
                bare[number].append(_by_step(done, echoes[number]))
    return [_fastest(*each) for each in zip(first, spent, bare, strict=True)]


def _by_step(done: PassRun, calls: Sequence[tuple[Call, bytes]]) -> dict[str, float]:
    """Return the seconds that the calls of a pass take, made again, by step."""
    spent = dict.fromkeys((one.step for one in done.exchanges), 0.0)
    for exchange, call in zip(done.exchanges, calls, strict=True):
        spent[exchange.step] += seconds_of([call])
    return spent


def _fastest(done: PassRun, spent: Sequence[Mapping[str, float]], bare: Sequence[Mapping[str, float]]) -> Timed:
    names = list(bare[0])
    return Timed(
        total=min(sum(each.values()) for each in spent),
        steps={name: min(each[name] for each in spent) for name in names},
        yardstick=min(sum(each.values()) for each in bare),
        yardsticks={name: min(each[name] for each in bare) for name in names},
        fetched=done.fetched,
        sent=sum(len(one.request) for one in done.exchanges),
    )


def _tagged(request: bytes, number: int) -> bytes:
    message = messages.Request.FromString(request)
    message.meta.tag = str(number)
    tagged: bytes = message.SerializeToString(deterministic=True)
    return tagged
