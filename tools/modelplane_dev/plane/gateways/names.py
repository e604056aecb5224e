"""A fake of a cluster's DNS: `python -m ... FILE`. It reads a file like /etc/hosts for each answer."""

import socket
import socketserver
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_ADDRESS: Final = ("127.0.0.1", 53)
#: The file in which programs look up the DNS server, and its content in a pod.
RESOLVER: Final = "/etc/resolv.conf"
_RESOLVER = f"nameserver {_ADDRESS[0]}\nsearch cluster.local\noptions ndots:5\n"
#: Seconds for which an answer may be cached.
_TTL: Final = 2
#: A question's class, types, and the answer's flags where the name is known and where it is not (RFC 1035, 4.1).
_INTERNET, _A = 1, 1
_KNOWN, _UNKNOWN = 0x8580, 0x8583
_HEADER = struct.Struct("!6H")


def files(folder: Path) -> tuple[Path, Path]:
    """Write to a folder the file that a DNS answers from, and the one to be mounted as `RESOLVER`; return both."""
    hosts, resolver = folder / "hosts", folder / "resolv.conf"
    write(hosts, {})
    resolver.write_text(_RESOLVER)
    return hosts, resolver


def write(hosts: Path, addresses: Mapping[str, str]) -> None:
    """Write atomically the file that a DNS answers from: an address for each name."""
    unfinished = hosts.with_suffix(".unfinished")
    unfinished.write_text("".join(f"{address} {name}\n" for name, address in addresses.items()))
    unfinished.rename(hosts)


def command(hosts: Path) -> list[str | Path]:
    """Return the command of a DNS."""
    return [sys.executable, "-m", "modelplane_dev.plane.gateways.names", hosts]


def answer(query: bytes, addresses: dict[str, str]) -> bytes:
    """Return the answer to a query for one name: its IPv4 address, if `addresses` has one and it is asked for."""
    (number, *_) = _HEADER.unpack_from(query)
    labels, at = [], _HEADER.size
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode())
        at += 1 + length
    question = query[_HEADER.size : at + 5]
    (kind,) = struct.unpack_from("!H", query, at + 1)
    address = addresses.get(".".join(labels).lower())
    found = b""
    if address and kind == _A:
        # 0xC00C is the name of the question.
        found = struct.pack("!3HIH", 0xC00C, _A, _INTERNET, _TTL, 4) + socket.inet_aton(address)
    return _HEADER.pack(number, _KNOWN if address else _UNKNOWN, 1, bool(found), 0, 0) + question + found


class Names(socketserver.BaseRequestHandler):
    """Answers one query."""

    file = Path()

    def handle(self) -> None:
        """Answer from the file."""
        query, client = self.request
        addresses = {name: address for address, name in map(str.split, self.file.read_text().splitlines())}
        client.sendto(answer(query, addresses), self.client_address)


def main(file: str) -> None:
    """Answer for ever."""
    Names.file = Path(file)
    socketserver.UDPServer(_ADDRESS, Names).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
