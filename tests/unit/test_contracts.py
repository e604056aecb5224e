"""Contracts that `make lint` keeps hold for a package that is new, and for secret values."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from modelplane_dev.folders import ROOT

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
#: Packages that may use a clock, chance, the network, YAML or a terminal.
OUTSIDE = {"cli", "planning", "preview", "reading", "live", "transport", "hydrate", "inventory", "observe"}


def _packages() -> set[str]:
    found = (ROOT / "functions" / "modelplane").iterdir()
    return {path.stem for path in found if path.suffix == ".py" or (path / "__init__.py").exists()} - {"__init__"}


def test_every_other_package_is_kept_from_clock_chance_network_yaml_and_terminal() -> None:
    pure = [each for each in CONTRACTS if each["type"] == "forbidden" and "random" in each["forbidden_modules"]]
    kept = [name.removeprefix("modelplane.") for each in pure for name in each["source_modules"]]
    assert sorted(kept) == sorted(_packages() - OUTSIDE)


def test_a_new_package_needs_a_layer_and_may_neither_serve_nor_open_a_sealed_value(tmp_path: Path) -> None:
    for folder in ("functions", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "functions" / "modelplane" / "ui"
    package.mkdir()
    (package / "__init__.py").write_text("import grpc\nimport modelplane.transport\nimport modelplane.step.opening\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path / 'functions'}:{tmp_path / 'tools'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    broken = {line.removesuffix(" BROKEN") for line in done.stdout.splitlines() if line.endswith(" BROKEN")}
    assert broken == {
        "Layers of the product",
        "Only transport knows gRPC, protobuf and the function SDK",
        "Only the command line serves",
        "Only transport opens sealed values",
    }


def test_no_module_but_the_one_that_opens_sealed_values_looks_inside_them() -> None:
    leak = '"""A step."""\n\nfrom modelplane.step.sealed import Sealed\n\n\n'
    leak += 'def text(value: Sealed) -> str:\n    """Return it."""\n    return str(value._content)\n'
    codes = {}
    for file in ("compose_cache/token.py", "transport/response.py", "step/opening.py"):
        command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise"]
        command += [f"--stdin-filename=functions/modelplane/{file}", "-"]
        done = subprocess.run(command, cwd=ROOT, input=leak, capture_output=True, text=True, check=False)
        codes[file] = "SLF001" in done.stdout
    assert codes == {"compose_cache/token.py": True, "transport/response.py": True, "step/opening.py": False}
