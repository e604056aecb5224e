"""HTTPS on real gateways: services and the fleet URL go over to it and back, and keys hold on every connection."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT, CURL_BY_TLS, Answer
from gateways.live import LiveFleet
from modelplane.kube.gateway.proxy import INTERNAL_PORT
from modelplane.model.names import INFERENCE_GATEWAY, LISTENER_INTERNAL, SYSTEM_NAMESPACE
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.waiting import eventually

HOST = "models.example.com"
#: Seconds until Envoy has what the API server says: fewer than a service may take until it goes over.
_MOMENT = 10.0
KEY = "Authorization: Bearer key-of-ann"
_SECRET = "models-tls"  # noqa: S105 - a name


def _write_certificate(live: LiveFleet, folder: Path) -> None:
    """Write the certificate that callers are to see, which has signed itself."""
    pair = ("-keyout", folder / "tls.key", "-out", folder / "tls.crt")
    asked = ("-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-days", "2")
    network = live.gateways.public.network
    network.run("models-pair", "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *asked, *pair)
    data = {name: (folder / name).read_text() for name in ("tls.crt", "tls.key")}
    metadata = {"name": _SECRET, "namespace": SYSTEM_NAMESPACE}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls"}
    live.fleet.plane.hub.api.apply(secret | {"stringData": data})


def _serve(live: LiveFleet, name: str, **spec: Any) -> None:
    manifest = model_service(name, live.fleet.tag, {"llama": 1})
    manifest["spec"] |= spec
    live.fleet.plane.hub.api.apply(manifest)


def _ask(live: LiveFleet, folder: Path, path: str, body: Any, *headers: str) -> Answer:
    """Return the answer to a POST by HTTPS.

    The router's Envoy listens at the same port of this network, and the kernel divides connections among both: one that
    the router refuses, as it does all strangers, is made anew.
    """

    def answered() -> Answer:
        answer = _ask_once(live, folder, path, body, *headers)
        assert answer.status, answer
        return answer

    return eventually(answered, within=SOON, every=0.0)


def _ask_once(live: LiveFleet, folder: Path, path: str, body: Any, *headers: str, port: int = 443) -> Answer:
    """Return the answer to a POST by HTTPS, status 0 where the connection gives none."""
    known = ("--cacert", str(folder / "tls.crt")) if port == 443 else ("--insecure",)
    given = [part for header in headers for part in ("--header", header)]
    asked = (*CURL_BY_TLS, "--path-as-is", *known, *given)
    command = " ".join(f"'{part}'" for part in (*asked, "--resolve", f"{HOST}:{port}:{ADDRESS}", "--json"))
    text = live.shell(f"{command} '{json.dumps(body)}' 'https://{HOST}:{port}{path}' || true", folder)
    text, _, status = text.rpartition("\n")
    return Answer(int(status), text)


def _set_tls(live: LiveFleet, tls: dict[str, Any] | None, fleet_url: str) -> None:
    """Set `spec.tls`, and wait until the fleet URL is published."""
    api = live.fleet.plane.hub.api
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"tls": tls}})

    def published() -> None:
        status = (api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {})["status"]
        assert status.get("fleetUrl") == fleet_url, status

    eventually(published, within=SOON)


def _apart_from_503(seen: list[tuple[int, int]]) -> list[int]:
    """Return which statuses followed each other."""
    return [status for status, _ in groupby(status for status, _ in seen if status != 503)]


def _assert_over(live: LiveFleet) -> None:
    """Assert that nothing is left of HTTPS: until then a service of another test may be redirected at first."""
    status = (live.fleet.plane.hub.api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {})["status"]
    assert LISTENER_INTERNAL not in status.get("listeners", ()), status
    assert live.ask(live.url("nobody")).status == 404, "it is still redirected"


@pytest.mark.usefixtures("engines")
def test_over_https_the_fleet_url_serves_and_keys_hold_also_on_connections_from_before_it_ended(
    live: LiveFleet, tmp_path: Path
) -> None:
    tag = live.fleet.tag
    metadata = {"name": "secured", "namespace": tag}
    keys = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": "key-of-ann"}}
    live.fleet.plane.hub.api.apply(keys)
    _serve(live, "secured", keys=[{"name": "ann", "secretRef": {"name": "secured", "key": "ann"}}])
    _serve(live, "plain")
    live.wait_chat(live.url("plain"))
    chats, keyed = "/v1/chat/completions", CHAT | {"model": f"{tag}/secured"}
    live.wait_answer(200, f"{live.url('secured')}{chats}", CHAT, KEY)
    _write_certificate(live, tmp_path)
    fleet = (f"http://{ADDRESS}", f"{tag}/plain")
    live.wait_answer(200, f"{fleet[0]}{chats}", CHAT | {"model": fleet[1]})
    try:
        with live.watched(*fleet) as seen:
            _set_tls(live, {"hostname": HOST, "secretRef": {"name": _SECRET}}, f"https://{HOST}/v1")
            live.wait_answer(308, f"{fleet[0]}{chats}", CHAT | {"model": fleet[1]})
        assert _apart_from_503(seen) == [200, 308], seen
        live.gateways.forward_https()

        def serves() -> None:
            assert _ask(live, tmp_path, chats, CHAT | {"model": f"{tag}/plain"}).status == 200

        # With the URL it serves, whether the services have gone over or not.
        eventually(serves, within=_MOMENT)
        assert _ask(live, tmp_path, chats, keyed, KEY).status == 200

        def gone_over() -> None:
            assert _ask(live, tmp_path, f"/{tag}/plain{chats}", CHAT).status == 200

        eventually(gone_over, within=SOON)
        live.wait_answer(308, f"{live.url('secured')}{chats}", CHAT)
        for path in (chats, f"/v1/~/{tag}/secured/chat/completions", f"/v1/~/~/{tag}/secured/chat/completions"):
            answer = _ask(live, tmp_path, path, keyed)
            assert answer.status == 401, (path, answer)
            assert answer.code == "invalid_api_key"
        unknown = _ask(live, tmp_path, chats, CHAT | {"model": f"{tag}/none"})
        assert (unknown.status, unknown.code) == (404, "model_not_found")
        assert _ask_once(live, tmp_path, chats, CHAT, port=INTERNAL_PORT).status == 0
    finally:
        with live.early_connection(live.url("secured")) as statuses, live.watched(*fleet) as seen:
            _set_tls(live, None, f"http://{ADDRESS}/v1")
            live.wait_answer(200, f"{live.url('secured')}{chats}", CHAT, KEY)
            live.wait_answer(200, f"{fleet[0]}{chats}", CHAT | {"model": fleet[1]})
        eventually(lambda: _assert_over(live), within=SOON)
    # The routes of the fleet URL are written one after the other: for a moment the first may be there alone, with 503.
    assert _apart_from_503(seen) == [308, 200], seen
    assert statuses == [308, 401], "the second without a key, on a connection to the listener that only redirected"
