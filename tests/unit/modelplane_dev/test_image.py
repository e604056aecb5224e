"""The image that all functions run in."""

import json
import tarfile
from pathlib import Path
from typing import Any

from modelplane_dev.packages.image import Image


def config(file: Path) -> Any:
    """Return how an image is run."""
    with tarfile.open(file) as tar:
        found = {entry.name: tar.extractfile(entry) for entry in tar if entry.name.endswith(".json")}
        files = {name: json.loads(opened.read()) for name, opened in found.items() if opened}
    (described,) = files["manifest.json"]
    return files[described["Config"]]["config"]


def test_it_runs_as_a_user_that_kubernetes_can_tell_from_root(tmp_path: Path) -> None:
    file = tmp_path / "image.tar"
    Image((b"",)).write(file, ["modelplane", "serve", "schedule"], {"A": "b"})
    user, group = config(file)["User"].split(":")
    assert int(user) > 0
    assert int(group) > 0


def test_its_content_decides_its_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Image((b"x",)).write(tmp_path / name, ["modelplane"], {})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
