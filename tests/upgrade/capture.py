"""Captures the states of this version that are not there yet: python -m upgrade.capture.

A state that is there is never written again: it is what its version left, and later code can only misremember it.
"""

from modelplane import __version__
from upgrade.scenes import SCENES
from upgrade.states import STATES, write_state


def main() -> None:
    """Write every missing state."""
    folder = STATES / f"v{__version__}"
    for name, scene in SCENES.items():
        path = folder / f"{name}.yaml"
        if not path.exists():
            write_state(path, scene().control.everything())
            print(path)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
