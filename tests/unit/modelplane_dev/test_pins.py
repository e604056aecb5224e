"""What is installed is pinned, and by one truth."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def canonical(requirement: str) -> str:
    name, version = requirement.split("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def test_the_lock_has_every_dependency_of_the_project_at_its_version() -> None:
    stated = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
        *PROJECT["build-system"]["requires"],
    ]
    locked = {f"{name}=={version}" for name, version in PIN.findall(LOCK)}
    assert {canonical(requirement) for requirement in stated} - locked == set()


def test_every_locked_package_has_hashes() -> None:
    assert all("--hash=sha256:" in entry for entry in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE) if entry)


def test_the_lock_names_no_index() -> None:
    assert "://" not in LOCK
