"""Certificates between gateways are renewed, and a CA gives way to another, while requests go on."""

import time
from base64 import b64decode
from pathlib import Path

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from gateways.live_pages import open_page
from modelplane.compose_cluster.gateway import pair_name
from modelplane.model.names import (
    ANNOTATION_TRUST_IN_USE,
    AUTHORITY,
    CA_KEY,
    CLIENT_PAIR,
    INFERENCE_GATEWAY,
    SYSTEM_NAMESPACE,
)
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.gateways.live import INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually

#: Seconds that a certificate is valid for where renewal is tested.
LEAF = 60.0
CONFIG_MAP = Kind("v1", "ConfigMap")


def _certificates(text: str) -> list[str]:
    return text.split("-----END CERTIFICATE-----\n")[:-1]


def test_the_page_on_secure_requests_shows_who_is_trusted_and_forgets_old_cas(live: LiveFleet, tmp_path: Path) -> None:
    look, forget = open_page(live, "secure-requests", tmp_path)
    look = look.replace("eu-1", f"{live.fleet.tag}-west")
    shown = live.shell(look, tmp_path)
    assert shown.startswith("-----BEGIN CERTIFICATE-----\n")
    assert shown.endswith("-----END CERTIFICATE-----\ntrue")
    api = live.fleet.plane.hub.api
    in_use = api.get(SECRET, CLIENT_PAIR, SYSTEM_NAMESPACE) or {}

    def published() -> None:
        assert set(_certificates(_trusted(live))) >= set(_certificates(b64decode(in_use["data"][CA_KEY]).decode()))
        assert len(_certificates(_trusted(live))) <= 2

    try:
        live.shell(forget, tmp_path)
        eventually(published, within=SOON)
    finally:  # as the page says: while a CA changes, its certificates are to be trusted until no cluster has any
        without = {"metadata": {"annotations": {ANNOTATION_TRUST_IN_USE: None}}}
        api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, without)


@pytest.mark.usefixtures("engines")
def test_certificates_are_renewed_without_a_failed_request(live: LiveFleet) -> None:
    issuer, url = live.gateways.issuer, live.url("renewed")
    live.fleet.plane.hub.api.apply(model_service("renewed", live.fleet.tag, {"llama": 1}))
    live.wait_chat(url)
    pairs = [CLIENT_PAIR, *(pair_name(f"{live.fleet.tag}-{site}") for site in live.gateways.sites)]
    before = {pair: len(issuer.issued[pair]) for pair in pairs}
    lifetime = issuer.lifetime
    try:
        with live.watched(url) as seen:
            issuer.renew(lifetime=LEAF)
            # By then the first of the short certificates have expired, and those after them.
            time.sleep(2 * LEAF)
    finally:
        issuer.renew(lifetime=lifetime)
    renewed = {pair: len(issuer.issued[pair]) - before[pair] for pair in pairs}
    assert min(renewed.values()) >= 3, renewed
    live.fleet.figures.append(
        f"certificates of {LEAF:.0f} s: of {sum(count for _, count in seen)} requests all answered"
    )
    assert {status for status, _ in seen} == {200}, seen
    for site in live.gateways.sites:
        live.wait_site(site, "llama")


@pytest.mark.usefixtures("engines")
def test_a_new_ca_signs_every_pair_without_a_failed_request(live: LiveFleet) -> None:
    hub, issuer = live.fleet.plane.hub, live.gateways.issuer
    url = live.url("another-ca")
    hub.api.apply(model_service("another-ca", live.fleet.tag, {"llama": 1}))
    live.wait_chat(url)
    before = _trusted(live)
    with live.watched(url) as seen:
        issuer.renew(AUTHORITY)

        def both() -> None:
            bundle = _trusted(live)
            assert bundle.endswith(before)
            assert len(bundle) > len(before)
            assert {_trusted(live, site) for site in live.gateways.sites} == {bundle}
            # Before a pair of the new CA is there, all know it who will see one.
            added, *_ = _certificates(bundle)
            service = live.gateways.public.authorities_of("another-ca")
            known = [service, *(site.authorities_of(f"/{CA_KEY}") for site in live.gateways.sites.values())]
            assert all(each and all(added in text for text in each) for each in known), known

        eventually(both, within=SOON)
        times = {pair: len(issued) for pair, issued in issuer.issued.items()}
        issuer.renew()

        def renewed() -> None:
            assert all(len(issuer.issued[pair]) > count for pair, count in times.items() if pair != AUTHORITY)

        eventually(renewed, within=SOON)
        for site in live.gateways.sites:
            live.wait_site(site, "llama")
    live.fleet.figures.append(f"a new CA: of {sum(count for _, count in seen)} requests all answered")
    assert {status for status, _ in seen} == {200}, seen


def _trusted(live: LiveFleet, site: str | None = None) -> str:
    """Return the certificates by which a site's gateway knows callers, or those that are published."""
    if site is None:
        found = live.fleet.plane.hub.api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {}
        return str(found["status"]["caBundle"])
    trusted = live.gateways.sites[site].cluster.api.get(CONFIG_MAP, AUTHORITY, SYSTEM_NAMESPACE) or {}
    return str(trusted["data"][CA_KEY])
