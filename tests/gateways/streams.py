"""Streamed answers that are under way while other things happen."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from e2e.fleet import SOON
from e2e.services import SERVICE, model_service
from gateways.calls import CHAT
from gateways.live import OUTLASTS, LiveFleet
from modelplane.model.names import API_VERSION, ENGINE_PORT
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import ADDRESS, QUIET_PROVIDER
from modelplane_dev.plane.waiting import eventually

#: The service of the stream that is silent.
QUIET = "quiet"
FLEET_URL = f"http://{ADDRESS}/v1/chat/completions"
WORDS = ["This", " is", " an", " answer", "."]
#: Seconds of silence, which are longer than Envoy's own limit for a stream.
SILENCE = 360.0
#: Seconds that a stream may take.
LONGEST = 900.0


class Stream:
    """A streamed chat with a service of the fleet over the fleet URL; `pauses` are the engine's after each word."""

    def __init__(self, live: LiveFleet, service: str, *pauses: float) -> None:
        body = json.dumps(CHAT | {"model": f"{live.fleet.tag}/{service}/example/model", "stream": True})
        written = ",".join(map(str, pauses))
        asked = ("curl", "-sS", "--no-buffer", "--fail", "--max-time", str(LONGEST), "--header", f"X-Pauses: {written}")
        command = live.gateways.public.network.command(*asked, "--json", body, FLEET_URL)
        self._started = time.monotonic()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout
        self._lines = [self._process.stdout.readline()]
        self._errors, self._seconds = "", 0.0
        # Nobody else may look when it ends.
        self._reading = threading.Thread(target=self._read, name=f"stream-{service}", daemon=True)
        self._reading.start()

    def _read(self) -> None:
        # Not by `communicate`, which would leave out what was read together with the first line.
        with self._process as process:
            assert process.stdout
            assert process.stderr
            self._lines += process.stdout.read().splitlines()
            self._errors = process.stderr.read()
        self._seconds = time.monotonic() - self._started

    @property
    def is_running(self) -> bool:
        """Tell whether the answer has not ended yet."""
        return self._reading.is_alive()

    def wait_until(self, seconds: float) -> None:
        """Wait until it has lasted so many seconds."""
        time.sleep(max(0.0, self._started + seconds - time.monotonic()))

    def finish(self) -> tuple[list[str], float]:
        """Return the words of the whole answer, and after how many seconds it ended; assert that it has its end."""
        self._reading.join()
        assert self._process.returncode == 0, f"after {self._seconds:.0f} s: {self._errors}"
        events = [each.removeprefix("data: ") for each in self._lines if each.strip()]
        assert events[-1] == "[DONE]", events
        return [json.loads(each)["choices"][0]["delta"]["content"] for each in events[:-1]], self._seconds

    def stop(self) -> None:
        """End it, whatever has come."""
        self._process.kill()
        self._reading.join()


def write_endpoint(live: LiveFleet, name: str, **spec: object) -> None:
    """Write a ModelEndpoint of the quiet provider, which has a label with its name; wait until requests reach it."""
    fleet = live.fleet
    metadata = {"name": name, "namespace": fleet.tag, "labels": {"example.com/provider": name}}
    body = {"url": f"http://{QUIET_PROVIDER}:{ENGINE_PORT}/v1", **spec}
    fleet.plane.hub.api.apply({"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": body})

    def ready() -> None:
        fleet.assert_condition(fleet.plane.hub.api.get(ENDPOINT, name, fleet.tag) or {}, "RoutingReady")

    eventually(ready, within=SOON)


def serve_endpoint(live: LiveFleet, name: str, **labels: str) -> None:
    """Make a service of a name, with labels, over the endpoint of that name, and wait until it answers."""
    manifest = model_service(name, live.fleet.tag, {})
    manifest["metadata"]["labels"] = labels
    manifest["spec"]["endpoints"] = [{"selector": {"matchLabels": {"example.com/provider": name}}}]
    live.fleet.plane.hub.api.apply(manifest)
    live.wait_chat(live.url(name))


@contextmanager
def silent(live: LiveFleet) -> Iterator[Stream]:
    """Begin a stream of the quiet provider that is silent after its first word."""
    write_endpoint(live, QUIET)
    serve_endpoint(live, QUIET, **{OUTLASTS: ""})
    live.wait_answer(200, FLEET_URL, CHAT | {"model": f"{live.fleet.tag}/{QUIET}"})
    stream = Stream(live, QUIET, SILENCE)
    try:
        yield stream
    finally:
        stream.stop()
        eventually(lambda: _delete(live, QUIET), within=SOON)


def _delete(live: LiveFleet, service: str) -> None:
    """Delete a service; assert that it is gone."""
    api = live.fleet.plane.hub.api
    if api.get(SERVICE, service, live.fleet.tag):
        api.delete(SERVICE, service, live.fleet.tag)
    assert not api.get(SERVICE, service, live.fleet.tag)
