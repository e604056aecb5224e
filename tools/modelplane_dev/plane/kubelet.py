"""A fake kubelet that runs engines as processes: `python -m ... KUBECONFIG NAMESPACE PACE FOLDER [ADDRESSES]`.

Of the pods of a namespace that are bound to a node it runs those with the annotation `PLAYS`, which kwok leaves to it:
a fake of the engine that the annotation names (`gateways.documented_engine`). It follows Kubernetes' rules of probes,
restarts and termination messages, PACE times as fast, and reports what it sees in the pod's status. The addresses of
pods begin with ADDRESSES, such as `10.2.0.`; without it pods have none, and engines listen on loopback.
"""

import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from modelplane_dev.plane.api import Api, ApiError, Kind, Manifest
from modelplane_dev.plane.pods import PLAYS
from modelplane_dev.processes.process import DIE_WITH_PARENT

_POD: Final = Kind("v1", "Pod")
#: The policy with which the end of the log of a container that has failed is its termination message, and how much of
#: the log that is: lines first, then bytes (kubelet's `MaxContainerTerminationMessageLogLines` and `...LogLength`).
_LOG_POLICY: Final = "FallbackToLogsOnError"
_LOG_LINES, _LOG_BYTES = 80, 2048
#: Seconds before a container is restarted, the first time and at most.
_BACK_OFF, _LONGEST = 10.0, 300.0
#: Seconds between two looks at the pods.
_LOOK: Final = 0.3
#: Least seconds between two probes of an engine that is ready, which need not cost a busy machine anything.
_IDLE: Final = 0.5
#: Least seconds in which an engine has to answer a probe, or to stop, on a machine that is busy.
_PATIENCE: Final = 5.0
_STARTUP, _READINESS, _LIVENESS = "startupProbe", "readinessProbe", "livenessProbe"


def now() -> str:
    """Return the time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def termination_message(container: Mapping[str, Any], code: int, log: bytes) -> str:
    """Return the termination message of a container that has written none, and ended with a code."""
    if code == 0 or container.get("terminationMessagePolicy") != _LOG_POLICY:
        return ""
    return b"".join(log.splitlines(keepends=True)[-_LOG_LINES:])[-_LOG_BYTES:].decode(errors="replace")


@dataclass(slots=True)
class Probing:
    """A probe of a container as Kubernetes counts it: how often it has failed or succeeded in a row."""

    probe: Mapping[str, Any]
    due: float = 0.0
    failures: int = 0
    succeeded: bool = False

    def look(self, ask: Callable[[str, int], bool], at: float) -> bool:
        """Ask if it is time, at a second after the container's start; tell whether it has failed too often."""
        if at < self.due:
            return False
        self.due = at + self.probe["periodSeconds"]
        get = self.probe["httpGet"]
        self.succeeded = ask(get["path"], get["port"])
        self.failures = 0 if self.succeeded else self.failures + 1
        return self.failures >= int(self.probe["failureThreshold"])


@dataclass(slots=True)
class EnginePod:
    """A pod of one engine, whose container is run again and again; `status` is that of the container."""

    api: Api
    manifest: Manifest
    pace: float
    folder: Path
    address: str
    over: threading.Event = field(default_factory=threading.Event)
    status: dict[str, Any] = field(default_factory=dict)
    began: str = field(default_factory=now)

    @property
    def container(self) -> Mapping[str, Any]:
        """Return its container."""
        found: Mapping[str, Any] = self.manifest["spec"]["containers"][0]
        return found

    def run(self) -> None:
        """Run the container until the pod is deleted."""
        image, restarts, back_off = self.container["image"], 0, _BACK_OFF
        last: dict[str, Any] = {}
        while not self.over.is_set():
            self.status = {"name": self.container["name"], "image": image, "imageID": image, "restartCount": restarts}
            self.status |= {"lastState": last} if last else {}
            last = {"terminated": self._once(restarts)}
            waiting = {"reason": "CrashLoopBackOff", "message": f"back-off {back_off:.0f}s restarting failed container"}
            self._report(state={"waiting": waiting}, lastState=last, ready=False, started=False)
            self.over.wait(back_off / self.pace)
            restarts, back_off = restarts + 1, min(back_off * 2, _LONGEST)

    def _once(self, number: int) -> dict[str, Any]:
        """Run the container to its end; return the state in which it has ended."""
        name, started = self.manifest["metadata"]["name"], now()
        log = self.folder / f"{name}-{number}.log"
        variables = {row["name"]: row.get("value", "from elsewhere") for row in self.container.get("env") or ()}
        plays = self.manifest["metadata"]["annotations"][PLAYS]
        fake = (sys.executable, "-m", "modelplane_dev.plane.gateways.documented_engine", plays)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*DIE_WITH_PARENT, *fake, self.address, str(self.pace), name],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, **variables},
            )
        assert process.stdin
        process.stdin.write(json.dumps(self.container).encode())
        process.stdin.close()
        self._report(state={"running": {"startedAt": started}}, ready=False, started=False)
        self._probe(process)
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": started}
        message = termination_message(self.container, code, log.read_bytes())
        return {**ended, "finishedAt": now(), **({"message": message} if message else {})}

    def _probe(self, process: subprocess.Popen[bytes]) -> None:
        """Probe the engine as long as it runs, and stop it where that fails too often, or with its pod."""
        probes = {name: Probing(self.container[name]) for name in (_STARTUP, _READINESS, _LIVENESS)}
        began, started, ready = time.monotonic(), False, False
        shortest = min(each.probe["periodSeconds"] for each in probes.values())
        while process.poll() is None:
            at = (time.monotonic() - began) * self.pace
            asked = (_LIVENESS, _READINESS) if started else (_STARTUP,)
            failed = {name for name in asked if probes[name].look(self._ask, at)}
            if failed - {_READINESS} or self.over.is_set():
                self._stop(process)
                return
            was = started, ready
            started = started or probes[_STARTUP].succeeded
            ready = started and (probes[_READINESS].succeeded or (ready and _READINESS not in failed))
            if (started, ready) != was:
                print(f"{self.manifest['metadata']['name']} {started=} {ready=} at {at:.0f}", flush=True)
                self._report(ready=ready, started=started)
            time.sleep(max(shortest / self.pace / 2, _IDLE if ready else 0.0))

    def _ask(self, path: str, port: int) -> bool:
        connection = http.client.HTTPConnection(self.address, port, timeout=_PATIENCE)
        try:
            connection.request("GET", path)
            return 200 <= connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    @staticmethod
    def _stop(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _report(self, **changes: Any) -> None:
        """Write the pod's status with changes of the container's."""
        self.status |= changes
        metadata = self.manifest["metadata"]
        said = str(bool(self.status["ready"]))
        conditions = [each for each in self.manifest["status"]["conditions"] if each["type"] == "PodScheduled"]
        for kind in ("Initialized", "Ready", "ContainersReady"):
            value = "True" if kind == "Initialized" else said
            conditions.append({"type": kind, "status": value, "lastTransitionTime": now()})
        found = {"phase": "Running", "startTime": self.began, "conditions": conditions}
        found |= {"containerStatuses": [self.status], "hostIP": "127.0.0.1"}
        if not self.address.startswith("127."):
            found |= {"podIP": self.address, "podIPs": [{"ip": self.address}]}
        try:
            self.api.patch(_POD, metadata["name"], {"status": found}, metadata["namespace"], "status")
        except ApiError as error:
            if error.status != 404:  # It is deleted meanwhile.
                raise


def _api(kubeconfig: str) -> Api:
    found = json.loads(Path(kubeconfig).read_text())
    server = found["clusters"][0]["cluster"]
    authorities = b64decode(server["certificate-authority-data"]).decode()
    trust = ssl.create_default_context(cadata=authorities)
    return Api(server["server"], found["users"][0]["user"]["token"], trust)


def main(kubeconfig: str, namespace: str, pace: str, folder: str, addresses: str = "") -> None:
    """Run the engines of pods that come, and end those of pods that go, for ever."""
    running: dict[str, EnginePod] = {}
    count = 0
    while True:
        pods = {
            pod["metadata"]["uid"]: pod
            for pod in _api(kubeconfig).list(_POD, namespace)
            if PLAYS in pod["metadata"].get("annotations", {}) and pod["spec"].get("nodeName")
        }
        for uid in pods.keys() - running.keys():
            count += 1
            address = f"{addresses}{count}" if addresses else "127.0.0.1"
            running[uid] = EnginePod(_api(kubeconfig), pods[uid], float(pace), Path(folder), address)
            threading.Thread(target=running[uid].run, daemon=True).start()
        for uid in running.keys() - pods.keys():
            running[uid].over.set()
        time.sleep(_LOOK)


if __name__ == "__main__":
    main(*sys.argv[1:])
