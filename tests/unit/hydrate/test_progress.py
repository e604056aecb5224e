"""Progress is printed in bytes, rate and time left, now and then."""

import pytest

from modelplane.hydrate.progress import Progress, readable


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (3 << 20, "3.0 MiB"),
        (5 << 30, "5.0 GiB"),
        (2 << 50, "2048.0 TiB"),
    ],
)
def test_sizes_are_readable(size: int, words: str) -> None:
    assert readable(size) == words


def test_bytes_rate_and_time_left_are_printed_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("modelplane.hydrate.progress.time.monotonic", lambda: now[0])
    lines: list[str] = []
    progress = Progress(100 << 20, lines.append, _began=now[0], _last=now[0])
    progress.found(20 << 20)
    for _ in range(4):
        now[0] += 5
        progress.came(10 << 20)
    assert lines == [
        "40.0 MiB of 100.0 MiB (40 %), 2.0 MiB/s, 30 s left",
        "60.0 MiB of 100.0 MiB (60 %), 2.0 MiB/s, 20 s left",
    ]


def test_what_is_verified_on_the_volume_is_printed_without_a_guess_at_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("modelplane.hydrate.progress.time.monotonic", lambda: now[0])
    lines: list[str] = []
    progress = Progress(100 << 20, lines.append, _began=now[0], _last=now[0])
    now[0] += 20
    progress.found(40 << 20)
    assert lines == ["40.0 MiB of 100.0 MiB (40 %), 0 B/s, no estimate"]
