"""The token is sent to the hub, and to no other server."""

from pathlib import Path

import pytest

from modelplane.hydrate import HydrateSettings, hydrate
from modelplane.hydrate.failure import HydrateError
from modelplane.hydrate.hub import Hub, read_token
from modelplane.model.staging import HydrateExit
from unit.hydrate.fake_hub import FakeHub, content, serving

FILES = {"config.json": b"{}", "model.safetensors": content(1, 1000)}
TOKEN = "hf_secret"  # noqa: S105 - a fake's


def run(hub: FakeHub, target: Path) -> list[str]:
    """Bring the repository onto a volume with the right token; return what was printed."""
    printed: list[str] = []
    hydrate(HydrateSettings("org/model", "main", target, Hub(hub.url, TOKEN), printed.append, pause=0))
    return printed


def test_the_right_token_opens_a_gated_repository_and_is_not_printed(tmp_path: Path) -> None:
    with serving(FILES, token=TOKEN) as hub:
        assert TOKEN not in "".join(run(hub, tmp_path))
    assert (tmp_path / "model.safetensors").read_bytes() == FILES["model.safetensors"]


def test_the_token_is_for_the_hub_and_not_for_the_store_that_it_sends_to(tmp_path: Path) -> None:
    with serving(FILES) as store, serving(FILES, token=TOKEN) as hub:
        hub.store = store.url
        run(hub, tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert (hub.sent, store.sent) == ({f"Bearer {TOKEN}"}, {""})


@pytest.mark.parametrize(("text", "token"), [(None, None), ("", None), ("\n", None), ("hf_a\n", "hf_a")])
def test_a_line_break_at_its_end_is_not_part_of_a_token(text: str | None, token: str | None) -> None:
    assert read_token(text) == token


@pytest.mark.parametrize("text", ["one\ntwo", "tok\u00e9n", "a\0b"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(HydrateError) as caught:
        read_token(text)
    assert caught.value.exit_code is HydrateExit.REFUSED
    assert text not in str(caught.value)
