"""The port on which an engine takes requests: its declared port, else what its flags, command and image tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.catalogue.flags import order_ports
from modelplane.model.names import ENGINE_PORT, ENGINE_PORT_NAME
from modelplane.observed.engines import default_port, is_scripted, known_engine, port_setting
from modelplane.observed.fields import count, mappings, text
from modelplane.observed.flags import is_configured, number_in, read_flag

LAST_PORT: Final = 65535
#: The field that declares ports.
PORTS: Final = "ports"


@dataclass(frozen=True, slots=True)
class Port:
    """The port of an engine, and what sets it: `flag` is a flag, a variable, or a declared port.

    `given` is the text that it is set to, None if the port is the engine's default or assumed. `form` is how to write a
    number there.
    """

    number: int
    flag: str
    given: str | None = None
    name: str = ENGINE_PORT_NAME
    form: str = "{}"

    @property
    def is_unreadable(self) -> bool:
        """Tell whether the given port is not a number, such as a shell variable; `number` is then assumed."""
        return self.given is not None and number_in(self.given, most=LAST_PORT) is None

    def setting(self, number: int) -> str:
        """Return how to set the port to a number."""
        return f"{self.flag}: {number}" if self.flag.startswith(PORTS) else f"{self.flag}={self.form.format(number)}"


def declared_ports(container: Mapping[str, Any]) -> list[Port]:
    """Return a container's declared ports, the one for requests first."""
    found = []
    for row in order_ports(mappings(container.get(PORTS))):
        number, name = count(row.get("containerPort")), text(row.get("name"))
        found.append(Port(number, f"{PORTS}[{name}].containerPort", str(number), name))
    return found


def declared_port(container: Mapping[str, Any]) -> Port | None:
    """Return the port for requests among a container's declared ports, None without any."""
    return next(iter(declared_ports(container)), None)


def told_port(container: Mapping[str, Any]) -> Port:
    """Return the port that the engine in a container is told by a flag or a variable, or has by default."""
    engine = known_engine(container)
    given = read_flag(container, *engine.port_flags, of=engine.programs) if engine.port_flags else None
    by_variable = given is None and port_setting(container) is not None
    given = port_setting(container) if by_variable else given
    flag = engine.port_variable if by_variable or not engine.port_flags else engine.port_flags[0]
    number = None if given is None else number_in(given, most=LAST_PORT)
    assumed = default_port(container) if given is None else ENGINE_PORT
    return Port(number or assumed, flag, given, form=engine.port_form)


def known_port(container: Mapping[str, Any]) -> Port | None:
    """Return where a known engine listens whatever its `ports` declare, None if a script or a file may set it."""
    told = told_port(container)
    if told.is_unreadable or not known_engine(container).name or is_scripted(container):
        return None
    return None if told.given is None and is_configured(container) else told


def engine_port(container: Mapping[str, Any]) -> Port:
    """Return the port on which the engine in a container listens."""
    return declared_port(container) or told_port(container)
