"""A control cluster through kubectl: its pages, its refusals, its words, and a proxy that never stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modelplane.live import Access, KubectlError, LiveError, Resource, Rights, ServerError, list_objects, open_server
from modelplane.live.listing import Listing
from modelplane.live.watching import Change, follow
from unit.live.played import Played, page, played_kubectl

CACHES = Resource("modelplane.ai/v1alpha1", "ModelCache", "modelcaches", namespaced=True)
PATH = "/apis/modelplane.ai/v1alpha1/modelcaches"
FORBIDDEN = (403, {"message": 'modelcaches.modelplane.ai is forbidden: User "u"'})
GONE = (410, {"message": "The provided continue parameter is too old"})


@pytest.fixture(params=[True, False], ids=["a proxy", "a kubectl for each request"])
def kubectl(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    played = played_kubectl(tmp_path)
    monkeypatch.setenv("PATH", played.environment(proxy=request.param)["PATH"])
    return played


@pytest.fixture
def proxied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    played = played_kubectl(tmp_path)
    monkeypatch.setenv("PATH", played.environment()["PATH"])
    return played


def listing(namespace: str = "") -> Listing:
    with open_server(Access()) as server:
        return list_objects(server, CACHES, namespace)


def names(found: Listing) -> list[str]:
    return [obj["metadata"]["name"] for obj in found.objects]


def test_a_list_has_all_of_its_pages_with_kinds_and_without_managed_fields(kubectl: Played) -> None:
    kubectl.answer({PATH: [page("a", further="x", version="7")], f"{PATH}?x": [page("b", version="7")]})
    found = listing()
    assert (found.rights, names(found), found.version) == (Rights.THERE, ["a", "b"], "7")
    metadata = {"name": "a", "namespace": "ml"}
    assert found.objects[0] == {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCache", "metadata": metadata}
    assert kubectl.asked() == [f"{PATH}?limit=500", f"{PATH}?limit=500&continue=x"]


def test_a_list_that_expires_between_pages_begins_again(kubectl: Played) -> None:
    kubectl.answer({PATH: [page("a", further="x"), page("a", "b")], f"{PATH}?x": [GONE]})
    assert names(listing()) == ["a", "b"]


def test_a_list_that_expires_again_and_again_ends_with_the_words_of_the_server(kubectl: Played) -> None:
    kubectl.answer({PATH: [page("a", further="x")], f"{PATH}?x": [GONE]})
    with pytest.raises(ServerError, match="too old"):
        listing()


#: What the server answers, and how the kind stands.
STATES = {
    "there": (page(), Rights.THERE, ""),
    "not allowed": (FORBIDDEN, Rights.NOT_ALLOWED, 'modelcaches.modelplane.ai is forbidden: User "u"'),
    "absent": ((404, {"message": "the server could not find"}), Rights.ABSENT, "the server could not find"),
}


@pytest.mark.parametrize(("answer", "rights", "why"), STATES.values(), ids=STATES)
def test_a_kind_is_there_absent_or_not_allowed(
    kubectl: Played, answer: tuple[int, object], rights: Rights, why: str
) -> None:
    kubectl.answer({PATH.replace("/modelcaches", "/namespaces/ml/modelcaches"): [answer]})
    found = listing("ml")
    assert (found.rights, found.why, found.objects) == (rights, why, ())


def test_context_kubeconfig_and_user_go_to_kubectl(kubectl: Played) -> None:
    kubectl.answer({PATH: [page()]})
    with open_server(Access("c", "file", "u")) as server:
        list_objects(server, CACHES)
    assert {tuple(each[:3]) for each in kubectl.commands()} == {("--context=c", "--kubeconfig=file", "--as=u")}


def test_the_words_of_a_kubectl_that_fails_are_whole(kubectl: Played) -> None:
    kubectl.give(words='error: context "nope"\ndoes not exist', code=1)
    with pytest.raises(KubectlError) as refused:
        listing()
    assert str(refused.value) == 'error: context "nope"\ndoes not exist'


def test_without_kubectl_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KubectlError, match=r"kubectl is not on PATH.*install it, or give an export with -f"):
        listing()


def test_a_server_that_is_not_reached_is_said_in_the_words_of_the_proxy(
    proxied: Played, capfd: pytest.CaptureFixture[str]
) -> None:
    proxied.answer({PATH: [(500, "dial tcp 10.0.0.1:443: connect: connection refused")]})
    with pytest.raises(LiveError, match=r"^the control cluster does not answer: dial tcp 10.0.0.1:443: connect: conn"):
        listing()


def test_what_a_credential_plugin_says_is_shown_and_the_log_of_the_proxy_is_not(
    proxied: Played, capfd: pytest.CaptureFixture[str]
) -> None:
    log = "E1124 12:40:05.111210   15031 proxy_server.go:147] Error while proxying request: dial tcp: refused"
    proxied.give(later=f"open https://login.example.org\n{log}")
    proxied.answer({PATH: [page()]})
    listing()
    assert capfd.readouterr().err == "open https://login.example.org\n"


def test_the_socket_is_in_a_folder_that_only_its_user_opens_and_that_goes(proxied: Played) -> None:
    proxied.answer({PATH: [page()]})
    listing()
    socket, mode = (proxied.folder / "socket").read_text().split()
    assert (mode, Path(socket).parent.exists()) == ("700", False)


HOLD = (
    "import time\nfrom modelplane.live import *\nwith open_server(Access()):\n  print(1, flush=True)\n  time.sleep(60)"
)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_no_proxy_stays_however_its_user_ends(proxied: Played, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], env=proxied.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        socket = (proxied.folder / "socket").read_text().split()[0]
        (proxy,) = processes_with(socket)
        process.send_signal(number)
    until = time.monotonic() + 30
    while processes_with(socket) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(socket) == []
    assert proxy != os.getpid()


def processes_with(text: str) -> list[int]:
    """Return the processes that have a text among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and text.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def event(kind: str, name: str = "a", version: str = "8") -> dict[str, object]:
    return {"type": kind, "object": {"metadata": {"name": name, "resourceVersion": version}}}


def test_a_watch_goes_on_where_the_server_ended_it_until_it_breaks(proxied: Played) -> None:
    expired = {"type": "ERROR", "object": {"code": 410, "message": "too old resource version"}}
    first = [event("ADDED"), event("BOOKMARK", version="9")]
    proxied.answer({PATH: [page(version="7")], f"{PATH}?watch": [(200, first), (200, [event("DELETED"), expired])]})
    told: list[Change | LiveError] = []
    with open_server(Access()) as server:
        follow(server, list_objects(server, CACHES), told.append)
    *changes, last = told
    assert [(each[0]["metadata"]["name"], each[1]) for each in changes if not isinstance(each, LiveError)] == [
        ("a", False),
        ("a", True),
    ]
    assert str(last) == "too old resource version"
    assert [each.rpartition("=")[2] for each in proxied.asked()[1:]] == ["7", "9"]
