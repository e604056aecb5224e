"""A download ends with every byte in place and verified, or says why not and is not marked; a rerun finishes it."""

import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from modelplane.hydrate import HydrateSettings, hydrate, resolve
from modelplane.hydrate.failure import HydrateError
from modelplane.hydrate.hub import Hub
from modelplane.hydrate.plan import File
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
    """Run the program's work; return what it printed."""
    printed: list[str] = []
    source = Hub(hub.url, fields.pop("token", None))
    settings = {"workers": 2, "tries": 3, "pause": 0.0, "revision": "main", **fields}
    hydrate(HydrateSettings(repo="org/model", target=target, hub=source, say=printed.append, **settings))
    return printed


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
    printed = run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    found = marker(tmp_path)
    assert (found["source"], found["repo"], found["revision"]) == ("HuggingFace", "org/model", "main")
    assert found["commit"] == hub.branch
    assert "all verified" in printed[-1]
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
    printed = run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert any("other bytes than the hub promised" in line for line in printed)


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


class Noon(datetime):
    """A clock that stands still: a date is as far away when it is read as when it was written."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Noon":
        return cls(2026, 1, 1, 12, tzinfo=tz)


def in_a_while() -> str:
    """Return a date as HTTP writes it, 17 seconds from now."""
    return format_datetime(Noon.now(UTC) + timedelta(seconds=17), usegmt=True)


@pytest.mark.parametrize("asks", [lambda: "17", in_a_while], ids=["seconds", "a date"])
@pytest.mark.parametrize("part", ["/api/", "/resolve/"])
def test_a_hub_that_is_asked_too_often_gets_the_pause_that_it_asks_for(
    hub: FakeHub, tmp_path: Path, part: str, asks: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("modelplane.hydrate.snapshot.time.sleep", pauses.append)
    monkeypatch.setattr("modelplane.hydrate.hub.datetime", Noon)
    limited: set[str] = set()

    def limit(path: str, answer: Answer) -> Answer:
        if part not in path or path in limited:
            return answer
        limited.add(path)
        return 429, {"Retry-After": asks()}, b""

    hub.mishap = limit
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert pauses
    assert set(pauses) == {17.0}


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


def test_a_file_may_have_any_name_that_git_and_a_volume_allow(tmp_path: Path) -> None:
    names = ("a b#c?d%20e+f", "-rf", "..a", "\u8a9e\u3000\u00a0\u200d", "\U0001f600", "&;$(x)'\"")
    files = {f"sub/{name}/{name}.bin": name.encode() for name in names}
    with serving(files) as hub:
        run(hub, tmp_path)
    assert tree(tmp_path) == files


def test_what_was_staged_is_mended_at_its_own_commit_though_the_revision_has_moved(
    hub: FakeHub, tmp_path: Path
) -> None:
    first = hub.branch
    run(hub, tmp_path)
    (tmp_path / "config.json").unlink()
    hub.push({"config.json": OTHER["config.json"]})
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES
    assert marker(tmp_path)["commit"] == first


def test_what_was_resolved_is_brought_though_the_revision_has_moved_since(hub: FakeHub, tmp_path: Path) -> None:
    resolved = resolve(HydrateSettings("org/model", "main", tmp_path, Hub(hub.url), print, pause=0.0))
    assert tree(tmp_path) == {}
    hub.push(OTHER)
    run(hub, tmp_path)
    assert (tree(tmp_path), marker(tmp_path)["commit"]) == (FILES, resolved.commit)


def test_the_commit_that_is_given_is_brought_whatever_the_revision_names_now(hub: FakeHub, tmp_path: Path) -> None:
    first = hub.branch
    hub.push(OTHER)
    run(hub, tmp_path, commit=first)
    assert tree(tmp_path) == FILES
    assert (marker(tmp_path)["revision"], marker(tmp_path)["commit"]) == ("main", first)


def test_what_is_staged_at_another_commit_than_the_one_that_is_given_is_brought_to_that(
    hub: FakeHub, tmp_path: Path
) -> None:
    run(hub, tmp_path)
    second = hub.push(OTHER)
    run(hub, tmp_path, commit=second)
    assert (tree(tmp_path), marker(tmp_path)["commit"]) == (OTHER, second)


def test_a_commit_that_was_given_and_is_gone_is_no_other(hub: FakeHub, tmp_path: Path) -> None:
    assert fails(hub, tmp_path, commit="0" * 40).exit_code is HydrateExit.NOT_FOUND


ALIKE = {"README.md": b"a", "sub/x.bin": b"b", "readme.md": b"c"}


def test_files_that_differ_in_case_alone_are_brought_where_the_volume_tells_case_apart(tmp_path: Path) -> None:
    with serving(ALIKE) as hub:
        run(hub, tmp_path)
    assert tree(tmp_path) == ALIKE


@pytest.mark.parametrize("pair", [("README.md", "readme.md"), ("Caf\u00e9", "Cafe\u0301"), ("a/B", "A/b")])
def test_files_that_would_be_one_on_a_volume_that_tells_no_case_apart_are_refused(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    # A link stands for the second name under which such a volume would find our folder.
    (tmp_path / ".modelplane").mkdir()
    (tmp_path / ".MODELPLANE").symlink_to(tmp_path / ".modelplane")
    with serving(dict.fromkeys(pair, b"x")) as hub:
        failure = fails(hub, tmp_path)
    assert failure.exit_code is HydrateExit.UNWRITABLE
    assert "does not tell upper from lower case" in str(failure)


OUTSIDE = (
    "../out.txt",
    "/out.txt",
    ".modelplane/staged.json",
    ".ModelPlane/staged.json",
    "a/../../out.txt",
    "a\nb",
    "\ud800",
)


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_repository_that_would_write_outside_its_place_is_refused(tmp_path: Path, path: str) -> None:
    target = tmp_path / "volume"
    target.mkdir()
    with serving({**FILES, path: b"x"}) as hub:
        assert "is not the name of a file inside the snapshot" in str(fails(hub, target))
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("path", ["../out.txt", "/out.txt", "a/../../out.txt", ".MODELPLANE/x"])
@pytest.mark.parametrize("written", ["plan.json", "staged.json"])
def test_a_plan_on_the_volume_that_leads_outside_removes_and_counts_nothing(
    hub: FakeHub, tmp_path: Path, path: str, written: str
) -> None:
    target, outside = tmp_path / "volume", tmp_path / "out.txt"
    (target / ".modelplane").mkdir(parents=True)
    outside.write_bytes(b"x")
    forged = {"repo": "org/model", "revision": "main", "commit": "c", "files": [[path, 1, "sha256", "0"]]}
    (target / ".modelplane" / written).write_text(json.dumps(forged))
    run(hub, target)
    assert tree(target) == FILES
    assert outside.read_bytes() == b"x"


#: Where a symbolic link on the volume leads out of it, and how the download that meets it ends.
LINKS: dict[str, bool] = {
    "sub": False,
    "sub/folder": False,
    ".modelplane": False,
    ".modelplane/parts": False,
    "config.json": True,
    "sub/folder/tokenizer.json": True,
}


@pytest.mark.parametrize(("link", "replaced"), LINKS.items(), ids=LINKS)
def test_a_symbolic_link_on_the_volume_is_not_followed(hub: FakeHub, tmp_path: Path, link: str, replaced: bool) -> None:
    target, outside = tmp_path / "volume", tmp_path / "outside"
    (target / link).parent.mkdir(parents=True)
    outside.mkdir()
    (target / link).symlink_to(outside / "victim" if replaced else outside)
    if replaced:
        run(hub, target)
        assert not (target / link).is_symlink()
        assert tree(target) == FILES
    else:
        failure = fails(hub, target)
        assert failure.exit_code is HydrateExit.UNWRITABLE
        assert str(failure) == (
            f"not a folder, or a symbolic link, which is not followed; remove it from the volume: {link}"
        )
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["plan.json", "plan.new", "staged.json", "staged.new"])
def test_the_files_beside_the_snapshot_are_neither_read_nor_written_through_a_link(
    hub: FakeHub, tmp_path: Path, name: str
) -> None:
    target, outside = tmp_path / "volume", tmp_path / "victim"
    (target / ".modelplane").mkdir(parents=True)
    plan = {"repo": "org/model", "revision": "main", "commit": hub.branch, "files": [["theirs", 0, "git", ""]]}
    written = json.dumps(plan).encode()
    outside.write_bytes(written)
    (target / ".modelplane" / name).symlink_to(outside)
    if name.endswith(".new"):
        failure = fails(hub, target)
        assert (failure.exit_code, f".modelplane/{name}" in str(failure)) == (HydrateExit.UNWRITABLE, True)
    else:
        run(hub, target)
        assert tree(target) == FILES
    assert outside.read_bytes() == written


def test_an_unfinished_file_is_not_continued_through_a_link(hub: FakeHub, tmp_path: Path) -> None:
    target, outside = tmp_path / "volume", tmp_path / "victim"
    data = FILES["config.json"]
    file = File("config.json", len(data), "sha256", sha256(data).hexdigest())
    outside.write_bytes(b"theirs")
    part = target / Volume(target).part(file)
    part.parent.mkdir(parents=True)
    part.symlink_to(outside)
    with pytest.raises(HydrateError):
        list(Volume(target).write(file, 0, [data]))
    assert outside.read_bytes() == b"theirs"


def test_what_an_earlier_plan_lists_is_not_removed_through_a_link(hub: FakeHub, tmp_path: Path) -> None:
    target, outside = tmp_path / "volume", tmp_path / "outside"
    (target / ".modelplane").mkdir(parents=True)
    outside.mkdir()
    (outside / "victim").write_bytes(b"x")
    (target / "theirs").symlink_to(outside)
    forged = {"repo": "org/other", "revision": "main", "commit": "c", "files": [["theirs/victim", 1, "git", "0"]]}
    (target / ".modelplane" / "plan.json").write_text(json.dumps(forged))
    run(hub, target)
    assert [path.name for path in outside.iterdir()] == ["victim"]


def test_a_pipe_in_the_place_of_a_plan_does_not_stop_a_download(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / ".modelplane").mkdir()
    os.mkfifo(tmp_path / ".modelplane" / "plan.json")
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


DEEP = "/".join(["d"] * 2000)


def test_a_path_of_more_parts_than_it_may_have_is_refused_with_their_number(tmp_path: Path) -> None:
    with serving({**FILES, DEEP: b"x"}) as hub:
        failure = fails(hub, tmp_path)
    assert failure.exit_code is HydrateExit.CORRUPT
    assert str(failure).endswith("has 2000 parts, and may have at most 64")
    assert len(str(failure)) < 400
    assert tree(tmp_path) == {}


def test_a_path_of_the_most_parts_is_staged(tmp_path: Path) -> None:
    files = {"/".join(["d"] * 64): b"x"}
    with serving(files) as hub:
        run(hub, tmp_path)
    assert tree(tmp_path) == files


def test_a_repository_of_more_files_than_it_may_have_is_refused_with_their_number(hub: FakeHub, tmp_path: Path) -> None:
    def listing(path: str, answer: Answer) -> Answer:
        status, headers, body = answer
        if not path.startswith("/api/"):
            return answer
        found = json.loads(body)
        found["siblings"] = [{"rfilename": str(number)} for number in range(100_001)]
        return status, headers, json.dumps(found).encode()

    hub.mishap = listing
    failure = fails(hub, tmp_path)
    assert failure.exit_code is HydrateExit.CORRUPT
    assert str(failure) == "org/model at main: 100001 files, and a snapshot has at most 100000"


#: Plans that somebody has written to the volume, of which nothing is read.
FORGED = {
    "nested without end": "[" * 100_000,
    "a size that is no number of bytes": '{"files": [["a", 1e999, "git", "0"]]}',
    "a negative size": (
        '{"repo": "org/model", "revision": "main", "commit": "COMMIT", "files": [["a", -9, "git", "0"]]}'
    ),
    "too many parts": f'{{"repo": "o", "revision": "m", "commit": "c", "files": [["{DEEP}", 1, "git", "0"]]}}',
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_a_plan_on_the_volume_that_no_run_writes_is_none(hub: FakeHub, tmp_path: Path, text: str) -> None:
    (tmp_path / ".modelplane").mkdir()
    (tmp_path / ".modelplane" / "plan.json").write_text(text.replace("COMMIT", hub.branch))
    run(hub, tmp_path)
    assert tree(tmp_path) == FILES


def test_a_repository_that_is_larger_than_it_may_be_is_not_begun(hub: FakeHub, tmp_path: Path) -> None:
    size = sum(map(len, FILES.values()))
    failure = fails(hub, tmp_path, limit=size - 1)
    assert failure.exit_code is HydrateExit.DISK_FULL
    assert "org/model has" in str(failure)
    assert tree(tmp_path) == {}
    run(hub, tmp_path, limit=size)
    assert tree(tmp_path) == FILES


@pytest.mark.parametrize("listed", [-1_000_000, "1", 1.5, float("nan")])
def test_a_size_that_is_none_takes_nothing_off_what_a_repository_may_have(
    hub: FakeHub, tmp_path: Path, listed: object
) -> None:
    def listing(path: str, answer: Answer) -> Answer:
        status, headers, body = answer
        if not path.startswith("/api/"):
            return answer
        found = json.loads(body)
        found["siblings"][0]["size"] = listed
        return status, headers, json.dumps(found).encode()

    hub.mishap = listing
    failure = fails(hub, tmp_path, limit=sum(map(len, FILES.values())) - 1)
    assert "does not say what 'config.json' is" in str(failure)
    assert tree(tmp_path) == {}


def test_a_repository_that_is_larger_than_the_volume_is_not_begun(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = SimpleNamespace(total=1 << 20, used=0, free=1 << 20)
    monkeypatch.setattr("modelplane.hydrate.volume.shutil.disk_usage", lambda _: volume)
    hub.push({"model.safetensors": content(1, (1 << 20) + 1)})
    failure = fails(hub, tmp_path)
    assert failure.exit_code is HydrateExit.DISK_FULL
    assert "org/model has 1.0 MiB, and the volume 1.0 MiB" in str(failure)
    assert not any("/resolve/" in path for path in hub.asked)


def test_everything_has_reached_the_volume_before_the_marker_is_written(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def spy(opened: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{opened}").readlink().relative_to(tmp_path)))
        sync(opened)

    monkeypatch.setattr("modelplane.hydrate.volume.os.fsync", spy)
    run(hub, tmp_path)
    assert synced[-2:] == [".modelplane/staged.new", ".modelplane"]
    assert sum("/parts/" in path for path in synced[:-2]) == len(FILES)
    assert {".", "sub/folder"} <= set(synced[:-2])


def test_a_volume_that_is_given_another_revision_is_not_marked_until_it_holds_that(
    hub: FakeHub, tmp_path: Path
) -> None:
    run(hub, tmp_path)
    files = {name: data for name, data in OTHER.items() if not name.startswith("sub/")}
    commit = hub.push(files)
    hub.mishap = lambda path, answer: (500, {}, b"") if path.endswith("model-2.safetensors") else answer
    fails(hub, tmp_path, revision=commit)
    assert not (tmp_path / "sub").exists()
    hub.mishap = lambda _, answer: answer
    run(hub, tmp_path, revision=commit)
    assert tree(tmp_path) == files
    assert marker(tmp_path)["revision"] == commit


def test_two_runs_that_write_one_file_do_not_add_to_what_the_other_has_verified(tmp_path: Path) -> None:
    volume, data = Volume(tmp_path), content(1, 3000)
    file = File("model.bin", len(data), "sha256", sha256(data).hexdigest())
    late = volume.write(file, 0, iter((data[:1000], data[1000:2000], data[2000:] + b"more")))
    next(late)
    assert sum(volume.write(file, 1000, (data[1000:],))) == 2000
    assert volume.has_all(file)
    volume.accept(file)
    assert sum(late) == 2000
    assert volume.holds(file)
    assert tree(tmp_path) == {"model.bin": data}
