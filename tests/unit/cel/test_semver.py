"""The normalizing variant of semantic versions, and the range of their numbers."""

import pytest

from modelplane.cel import semver
from modelplane.cel.semver import Semver, SemverError


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.2.3", Semver(1, 2, 3)),
        ("1", Semver(1, 0, 0)),
        ("1.2", Semver(1, 2, 0)),
        ("01.02.03", Semver(1, 2, 3)),
        ("00", Semver(0, 0, 0)),
        ("1.2.003-rc1", Semver(1, 2, 3, ("rc1",))),
        ("1.2.00-rc1", Semver(1, 2, 0, ("rc1",))),
    ],
)
def test_normalizing_pads_and_strips(text: str, version: Semver) -> None:
    assert semver.parse(semver.normalize(text)) == version


@pytest.mark.parametrize("text", ["V1.2.3", "vv1.2.3", "1.2-rc1", "1.2.3-rc.01", "", "v", " 1.2.3"])
def test_normalizing_does_not_forgive_more(text: str) -> None:
    with pytest.raises(SemverError):
        semver.parse(semver.normalize(text))


def test_numbers_are_within_uint64() -> None:
    assert semver.parse("1.2.18446744073709551615").patch == 2**64 - 1
    for text in ("1.2.18446744073709551616", "1.2.3-18446744073709551616", f"{'9' * 5000}.0.0"):
        with pytest.raises(SemverError):
            semver.parse(text)
