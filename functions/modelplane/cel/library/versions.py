"""Kubernetes' functions on semantic versions."""

from modelplane.cel import semver
from modelplane.cel.library.registry import function, method
from modelplane.cel.semver import Semver, SemverError
from modelplane.cel.values import INT_MAX, EvaluationError


@function("semver", "string -> semver", "string, bool -> semver")
def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 (CEL values)
    try:
        return semver.parse(semver.normalize(text) if normalize else text)
    except SemverError as error:
        raise EvaluationError(str(error)) from None


@function("isSemver", "string -> bool", "string, bool -> bool")
def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 (CEL values)
    try:
        semver.parse(semver.normalize(text) if normalize else text)
    except SemverError:
        return False
    return True


@method("isGreaterThan", "semver, semver -> bool")
def _is_greater(left: Semver, right: Semver) -> bool:
    return left.rank > right.rank


@method("isLessThan", "semver, semver -> bool")
def _is_less(left: Semver, right: Semver) -> bool:
    return left.rank < right.rank


@method("compareTo", "semver, semver -> int")
def _compare(left: Semver, right: Semver) -> int:
    return semver.compare(left, right)


@method("major", "semver -> int")
def _major(version: Semver) -> int:
    return _signed(version.major)


@method("minor", "semver -> int")
def _minor(version: Semver) -> int:
    return _signed(version.minor)


@method("patch", "semver -> int")
def _patch(version: Semver) -> int:
    return _signed(version.patch)


def _signed(number: int) -> int:
    # Kubernetes casts a uint64: numbers above int64 become negative.
    return number if number <= INT_MAX else number - 2**64
