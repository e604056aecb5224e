"""Forwards connections from one address to another: `python -m ... FROM TO [FROM TO]...`.

An address is HOST:PORT, or the path of a socket, by which connections leave and enter a network namespace.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Final

from modelplane_dev.processes.process import Process

#: What the addresses follow.
COMMAND: Final = (sys.executable, "-m", "modelplane_dev.plane.gateways.relay")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
#: What is printed once connections are accepted.
READY = "ready"
#: Connections that may wait to be taken: one more at a socket is refused at once.
_WAITING = 1024
#: Bytes that are read at a time.
_CHUNK = 65536


def start_relay(stack: ExitStack, relay: Process) -> None:
    """Start a relay, and wait until it accepts connections."""
    stack.enter_context(relay)
    relay.wait_for(lambda: READY in relay.tail())


async def _connect(address: str) -> Streams:
    if address.startswith("/"):
        return await asyncio.open_unix_connection(address)
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copy until the source ends, then close the target's input. Raises OSError when either end breaks."""
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    target.write_eof()


def _forward(target: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            theirs, ours = await _connect(target)
        except OSError:
            writer.transport.abort()
            return
        try:
            await asyncio.gather(_copy(reader, ours), _copy(theirs, writer))
        except OSError:
            # What broke at one end breaks at the other, at once.
            for end in (writer, ours):
                end.transport.abort()
        for end in (writer, ours):
            end.close()

    return lead


async def _listen(address: str, target: str) -> asyncio.Server:
    if address.startswith("/"):
        return await asyncio.start_unix_server(_forward(target), address, backlog=_WAITING)
    host, _, port = address.rpartition(":")
    return await asyncio.start_server(_forward(target), host, int(port), backlog=_WAITING)


async def main(*addresses: str) -> None:
    """Serve every pair of addresses; print a line as soon as all are listened on."""
    servers = [await _listen(*addresses[at : at + 2]) for at in range(0, len(addresses), 2)]
    print(READY, flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
