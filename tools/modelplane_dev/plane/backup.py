"""Backs up a control cluster and restores it, in the order and by the commands of docs/back-up.md."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.crossplane import FUNCTIONS
from modelplane_dev.processes.ports import listens

_PAGE = ROOT / "docs" / "back-up.md"
#: The names of the snapshot and of the folder of etcd on the page.
_SNAPSHOT, _DATA = "control-cluster.db", "/var/lib/etcd"
#: Processes that must not run while the control cluster is restored, in the order in which they start again.
_ACTING = ("controllers", "provider-kubernetes", *FUNCTIONS, "crossplane")


def save(plane: ControlPlane, file: Path) -> None:
    """Save a snapshot of the control cluster's etcd."""
    _run(plane, "etcdctl", file, f"--endpoints=http://127.0.0.1:{plane.hub.etcd_port}")


def restore(plane: ControlPlane, file: Path) -> None:
    """Restore the control cluster from a snapshot; the inference clusters keep running.

    To be called from the thread that runs the control plane.
    """
    processes, data = plane.processes, plane.hub.run.folder / "etcd"
    for name in reversed(_ACTING):
        processes[name].stop()
    for name in ("hub", "etcd"):
        processes[name].stop()
    shutil.move(data, data.with_name("etcd-before"))
    _run(plane, "etcdutl", file)
    processes["etcd"].start()
    processes["etcd"].wait_for(lambda: listens(plane.hub.etcd_port))
    processes["hub"].start()
    processes["hub"].wait_for(plane.hub.api.ready)
    for name in _ACTING:
        processes[name].start()


def _run(plane: ControlPlane, program: str, file: Path, *further: str) -> None:
    """Run the page's command of a program, with the files of this run in place of those that the page names."""
    found = re.search(rf"^ *\$ {program} (.+)$", _PAGE.read_text(), re.MULTILINE)
    assert found, f"{_PAGE} has no command of {program}"
    files = {_SNAPSHOT: str(file), _DATA: str(plane.hub.run.folder / "etcd")}
    arguments = [files.get(each, each) for each in shlex.split(found[1])]
    command: list[str | Path] = [components.path(program), *further, *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)
