"""Network namespaces for processes whose ports are fixed, linked with one another. Creating them takes root.

Each has its own root folder: the host's, with files mounted in the places where a pod would mount them.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modelplane_dev.processes.process import START, Process

#: Builds the root folder of a namespace from the host's, then stays for others to enter. The arguments are pairs of a
#: file or folder and where it is mounted. /mnt holds nothing on a host that is needed here.
_HOLD = """
set -e
ip link set lo up
mount -t tmpfs tmpfs /mnt
for entry in /*; do
  if [ "$entry" = /mnt ]; then continue; fi
  if [ -L "$entry" ]; then cp -a "$entry" "/mnt$entry"; continue; fi
  if [ -d "$entry" ]; then mkdir "/mnt$entry"; mount --rbind "$entry" "/mnt$entry"; fi
done
while [ $# -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p "/mnt$2"; fi
  mount --bind "$1" "/mnt$2"
  shift 2
done
touch "$READY"
exec chroot /mnt sleep infinity
"""


@dataclass(slots=True)
class Network:
    """A network namespace: a context of processes that are started by `command`.

    `files` are mounted in its root folder, by path there.
    """

    name: str
    folder: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    _holder: Process = field(init=False)

    def __post_init__(self) -> None:
        """Define the process that holds the namespace."""
        # A link, as /etc/resolv.conf often is, may lead out of the root folder that is being built: mount its target.
        mounts = [str(part) for where, what in self.files.items() for part in (what, Path(where).resolve())]
        command = ["unshare", "--net", "--mount", "sh", "-c", _HOLD, "hold", *mounts]
        self._holder = Process(f"network-{self.name}", self.folder, command, {"READY": self._ready})

    @property
    def pid(self) -> int:
        """Return the id of the process that holds the namespace."""
        return self._holder.pid

    @property
    def _ready(self) -> Path:
        return self.folder / f"network-{self.name}.ready"

    def start(self) -> None:
        """Make the namespace."""
        self._ready.unlink(missing_ok=True)
        self._holder.start()
        self._holder.wait_for(self._ready.exists)

    def stop(self) -> None:
        """Stop its process; the namespace ends with the last process in it."""
        self._holder.stop()

    def command(self, *command: str | Path) -> list[str | Path]:
        """Return the command that runs another in the namespace and ends with the process that starts it."""
        enter = ["nsenter", "--target", str(self.pid), "--net", "--mount", "--root", "--wd", "--"]
        return [*enter, "setpriv", "--pdeathsig", "KILL", "--", *command]

    def process(self, name: str, *command: str | Path, **environment: str | Path) -> Process:
        """Return a process of the namespace."""
        return Process(name, self.folder, self.command(*command), environment)

    def run(self, name: str, *command: str | Path) -> None:
        """Run a command in the namespace to its end. Raises ProcessError when it fails."""
        self.process(name, *command).run(within=START)

    def output(
        self, *command: str | Path, environment: Mapping[str, str] | None = None, text: str | None = None
    ) -> str:
        """Return what a command prints that runs in the namespace; assert that it succeeds. `text` is its input."""
        done = self._run(*command, environment=environment, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def succeeds(self, *command: str | Path) -> bool:
        """Return whether a command that runs in the namespace succeeds."""
        return self._run(*command).returncode == 0

    def _run(
        self, *command: str | Path, environment: Mapping[str, str] | None = None, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        entered = self.command(*command)
        return subprocess.run(entered, check=False, capture_output=True, text=True, env=environment, input=text)

    def link(self, other: "Network", number: int) -> tuple[str, str]:
        """Link two namespaces; return the address of each, this one's first. `number` tells links apart."""
        ends = (f"10.213.{number}.1", f"10.213.{number}.2")
        here, there = f"to-{other.name}"[:15], f"to-{self.name}"[:15]
        peer = ("peer", "name", there, "netns", str(other.pid))
        self.run("link", "ip", "link", "add", here, "type", "veth", *peer)
        for network, device, address in ((self, here, ends[0]), (other, there, ends[1])):
            network.run("link", "ip", "address", "add", f"{address}/30", "dev", device)
            network.run("link", "ip", "link", "set", device, "up")
        return ends

    def lead_here(self, address: str) -> None:
        """Let an address of the namespace be reached from where this runs, until the namespace ends."""
        here, there = f"to-{self.name}"[:15], "to-host"
        name = f"{self.name}-host"
        ends = ("10.213.254.1", "10.213.254.2")
        for command in (
            ("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", str(self.pid)),
            ("ip", "address", "add", f"{ends[0]}/30", "dev", here),
            ("ip", "link", "set", here, "up"),
        ):
            Process(name, self.folder, list(command)).run(within=START)
        self.run("link", "ip", "address", "add", f"{ends[1]}/30", "dev", there)
        self.run("link", "ip", "link", "set", there, "up")
        Process(name, self.folder, ["ip", "route", "replace", f"{address}/32", "via", ends[1]]).run(within=START)
