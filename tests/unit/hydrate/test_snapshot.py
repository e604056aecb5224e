"""A download ends with every byte in place and verified, or says why not and is not marked; a rerun finishes it."""

import errno
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane.hydrate import Settings, hydrate
from modelplane.hydrate.failure import HydrateError
from modelplane.hydrate.hub import Hub
from modelplane.hydrate.volume import Volume
from modelplane.model.staging import HydrateExit
from unit.hydrate.fake_hub import Answer, FakeHub, content, serving

FILES = {
    "config.json": b'{"a": 1}',
    "empty.txt": b"",
    "model-1.safetensors": content(1, 700_000),
    "model-2.safetensors": content(2, 300_001),
    "sub/folder/tokenizer.json": content(3, 5000),
}
OTHER = {**FILES, "config.json": b'{"a": 2}', "model-2.safetensors": content(4, 300_001)}


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(FILES) as served:
        yield served


def run(hub: FakeHub, target: Path, **fields: Any) -> list[str]:
    """Run the program's work; return what it said."""
    said: list[str] = []
    source = Hub(hub.url, fields.pop("token", None))
    settings = {"workers": 2, "tries": 3, "pause": 0.0, "revision": "main", **fields}
    hydrate(Settings(repo="org/model", target=target, hub=source, say=said.append, **settings))
    return said


def tree(target: Path) -> dict[str, bytes]:
    """Return the snapshot on the volume, without what is kept beside it."""
    files = [path for path in target.rglob("*") if path.is_file()]
    names = {str(path.relative_to(target)): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(".modelplane/")}


def marker(target: Path) -> Any:
    path = target / ".modelplane" / "staged.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def fails(hub: FakeHub, target: Path, **fields: Any) -> HydrateError:
    with pytest.raises(HydrateError) as caught:
        run(hub, target, **fields)
    assert marker(target) is None
    return caught.value


def test_the_snapshot_lies_at_the_root_and_the_marker_names_its_source(hub: FakeHub, tmp_path: Path) -> None:
    said = run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    found = marker(tmp_path)
    assert (found["source"], found["repo"], found["revision"]) == ("HuggingFace", "org/model", "main")
    assert found["commit"] == hub.branch
    assert "all verified" in said[-1]
    assert [path.name for path in (tmp_path / ".modelplane").iterdir()] == ["staged.json"]


def test_what_is_staged_is_not_asked_for_again(hub: FakeHub, tmp_path: Path) -> None:
    run(hub, tmp_path)
    hub.asked.clear()
    run(hub, tmp_path)
    assert hub.asked == []


def test_the_default_branch_is_taken_where_no_revision_is_named(hub: FakeHub, tmp_path: Path) -> None:
    run(hub, tmp_path, revision="")
    assert tree(tmp_path) == FILES


@pytest.mark.parametrize("seed", range(5))
def test_a_connection_that_breaks_at_random_points_is_taken_up_where_it_broke(
    hub: FakeHub, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret

    def cut(path: str, answer: Answer) -> Answer:
        status, headers, body = answer
        return (status, headers, body[: chance.randrange(1, len(body) + 1)]) if "/resolve/" in path and body else answer

    hub.mishap = cut
    run(hub, tmp_path, workers=1)
    assert tree(tmp_path) == FILES


def test_wrong_bytes_are_fetched_again_from_the_start(hub: FakeHub, tmp_path: Path) -> None:
    spoiled: list[str] = []

    def spoil(path: str, answer: Answer) -> Answer:
        if "/resolve/" not in path or path in spoiled or not answer[2]:
            return answer
        spoiled.append(path)
        return answer[0], answer[1], b"#" + answer[2][1:]

    hub.mishap = spoil
    said = run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert any("other bytes than the hub promised" in line for line in said)


def test_bytes_that_stay_wrong_are_not_accepted(hub: FakeHub, tmp_path: Path) -> None:
    def spoil(path: str, answer: Answer) -> Answer:
        return (answer[0], answer[1], b"#" + answer[2][1:]) if path.endswith("model-2.safetensors") else answer

    hub.mishap = spoil
    assert fails(hub, tmp_path).exit_code is HydrateExit.CORRUPT
    assert "model-2.safetensors" not in tree(tmp_path)
    hub.mishap = lambda _, answer: answer
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


def test_a_hub_that_does_not_resume_is_asked_from_the_start(hub: FakeHub, tmp_path: Path) -> None:
    cut: list[str] = []

    def stubborn(path: str, answer: Answer) -> Answer:
        if not path.endswith("model-1.safetensors"):
            return answer
        if not cut:
            cut.append(path)
            return answer[0], answer[1], answer[2][:1000]
        return 200, {}, FILES["model-1.safetensors"]

    hub.mishap = stubborn
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


REFUSALS = {
    "401": ({"token": "secret"}, {}, HydrateExit.REFUSED),
    "a wrong token": ({"token": "secret"}, {"token": "other"}, HydrateExit.REFUSED),
    "404": ({}, {"revision": "nowhere"}, HydrateExit.NOT_FOUND),
}


@pytest.mark.parametrize(("fields", "asked", "code"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_that_another_try_meets_again_ends_the_run(
    fields: dict[str, Any], asked: dict[str, Any], code: HydrateExit, tmp_path: Path
) -> None:
    with serving(FILES, **fields) as hub:
        assert fails(hub, tmp_path, **asked).exit_code is code
        assert len(hub.asked) == 1


def test_the_right_token_opens_a_gated_repository(tmp_path: Path) -> None:
    with serving(FILES, token="secret") as hub:  # noqa: S106 - a fake's
        said = run(hub, tmp_path, token="secret")  # noqa: S106 - a fake's
        assert tree(tmp_path) == FILES
        assert "secret" not in "".join(said)


@pytest.mark.parametrize("part", ["/api/", "/resolve/"])
def test_a_hub_that_is_asked_too_often_gets_the_pause_that_it_asks_for(
    hub: FakeHub, tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("modelplane.hydrate.snapshot.time.sleep", pauses.append)
    limited: set[str] = set()

    def limit(path: str, answer: Answer) -> Answer:
        if part not in path or path in limited:
            return answer
        limited.add(path)
        return 429, {"Retry-After": "17"}, b""

    hub.mishap = limit
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert set(pauses) == {17.0}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_hub_that_does_not_recover_ends_the_run_which_may_be_tried_again(
    hub: FakeHub, tmp_path: Path, status: int
) -> None:
    hub.mishap = lambda path, answer: (status, {}, b"") if "/resolve/" in path else answer
    assert fails(hub, tmp_path).exit_code is HydrateExit.AGAIN
    hub.mishap = lambda _, answer: answer
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


def test_a_full_volume_is_told_and_a_larger_one_is_filled_from_there(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Volume.append

    def full(self: Volume, file: Any, chunks: Any) -> Iterator[int]:
        if file.path == "model-1.safetensors":
            chunks = _until_full(chunks)
        return append(self, file, chunks)

    with monkeypatch.context() as patched:
        patched.setattr(Volume, "append", full)
        assert fails(hub, tmp_path).exit_code is HydrateExit.DISK_FULL
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


def _until_full(chunks: Any) -> Iterator[bytes]:
    yield next(iter(chunks))[:1000]
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_revision_that_moves_meanwhile_does_not_mix_two_commits(hub: FakeHub, tmp_path: Path) -> None:
    first = hub.branch
    hub.mishap = lambda path, answer: (500, {}, b"") if path.endswith("model-2.safetensors") else answer
    fails(hub, tmp_path, workers=1)
    hub.push(OTHER)
    hub.mishap = lambda _, answer: answer
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert marker(tmp_path)["commit"] == first


def test_a_commit_that_is_gone_is_given_up_for_what_the_revision_names_now(hub: FakeHub, tmp_path: Path) -> None:
    hub.mishap = lambda path, answer: (500, {}, b"") if path.endswith("model-2.safetensors") else answer
    fails(hub, tmp_path, workers=1)
    del hub.commits[hub.branch]
    files = {name: data for name, data in OTHER.items() if not name.startswith("sub/")}
    hub.push(files)
    hub.mishap = lambda _, answer: answer
    run(hub, tmp_path)
    assert tree(tmp_path) == files
    assert not (tmp_path / "sub").exists()


def test_what_others_put_on_the_volume_stays(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "theirs.txt").write_text("theirs")
    run(hub, tmp_path)
    assert tree(tmp_path) == {**FILES, "theirs.txt": b"theirs"}


def test_a_marker_over_a_file_that_is_missing_does_not_count(hub: FakeHub, tmp_path: Path) -> None:
    run(hub, tmp_path)
    (tmp_path / "config.json").unlink()
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


@pytest.mark.parametrize("path", ["../out.txt", "/out.txt", ".modelplane/staged.json", "a/../../out.txt"])
def test_a_repository_that_would_write_outside_its_place_is_refused(tmp_path: Path, path: str) -> None:
    target = tmp_path / "volume"
    target.mkdir()
    with serving({**FILES, path: b"x"}) as hub:
        assert "does not say what" in str(fails(hub, target))
    assert tree(tmp_path) == {}
