"""The port on which an engine takes requests, read from its command and arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.model.names import ENGINE_PORT
from modelplane.observed.flags import number_in, programs, read_flag

#: Default port of a decode engine: its sidecar has the engines' port.
DECODE_PORT: Final = 8001
LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class _Program:
    """A model server: the flags for its port, and its default port."""

    flags: tuple[str, ...]
    port: int


_PORT: Final = ("--port",)
#: The common servers, by the name of their command or Python module. Others are assumed to listen on the engines' port
#: unless they have `--port`. `vllm serve` and `trtllm-serve` use the engines' port by default.
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
    """The port of an engine: `given` is the text of the flag, None if it is the server's default or assumed."""

    number: int
    flag: str
    given: str | None = None

    @property
    def is_unreadable(self) -> bool:
        """Tell whether the given port is not a number, such as a shell variable; `number` is then assumed."""
        return self.given is not None and number_in(self.given, most=LAST_PORT) is None


def engine_port(container: Mapping[str, Any]) -> Port:
    """Return the port on which the engine in a container listens."""
    program = next((_PROGRAMS[name] for name in sorted(programs(container)) if name in _PROGRAMS), _ANY)
    given = read_flag(container, *program.flags)
    number = None if given is None else number_in(given, most=LAST_PORT)
    return Port(program.port if given is None else number or ENGINE_PORT, program.flags[0], given)
