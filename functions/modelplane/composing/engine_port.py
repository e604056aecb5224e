"""On which port an engine takes requests, as far as its command and arguments tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.composing.flags import number_in, programs, read_flag
from modelplane.model.names import ENGINE_PORT

#: Where a decode engine is assumed to listen that names no port: its sidecar has the engines' port.
DECODE_PORT: Final = 8001
LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class _Program:
    """A server of models: the flags for its port, and the port that it has without any."""

    flags: tuple[str, ...]
    port: int


_PORT: Final = ("--port",)
#: The common servers, by the name of their command or Python module. Those not listed listen on the engines' port
#: unless `--port` says otherwise. `vllm serve` and `trtllm-serve` have the engines' port themselves.
_PROGRAMS: Final[Mapping[str, _Program]] = {
    "sglang.launch_server": _Program(_PORT, 30000),
    "sglang": _Program(_PORT, 30000),
    "llama-server": _Program(_PORT, 8080),
    "lmdeploy": _Program(("--server-port",), 23333),
    "text-generation-launcher": _Program(("--port", "-p"), 3000),
    "tritonserver": _Program(("--http-port",), 8000),
}
_ANY: Final = _Program(_PORT, ENGINE_PORT)


@dataclass(frozen=True, slots=True)
class Port:
    """The port of an engine: `given` as it is written, None where it is the server's own or assumed."""

    number: int
    flag: str
    given: str | None = None

    @property
    def is_unreadable(self) -> bool:
        """Tell whether a port is given that is no number, such as a variable of a shell; `number` is then assumed."""
        return self.given is not None and number_in(self.given, most=LAST_PORT) is None


def engine_port(container: Mapping[str, Any]) -> Port:
    """Return the port on which the engine in a container listens."""
    program = next((_PROGRAMS[name] for name in sorted(programs(container)) if name in _PROGRAMS), _ANY)
    given = read_flag(container, *program.flags)
    number = None if given is None else number_in(given, most=LAST_PORT)
    return Port(program.port if given is None else number or ENGINE_PORT, program.flags[0], given)
