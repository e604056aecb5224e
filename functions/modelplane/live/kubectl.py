"""kubectl as a program: which context, and whose credentials, is for kubectl to say."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from modelplane.live.errors import KubectlError

_MISSING = "kubectl is not on PATH; it reaches the control cluster: install it, or give an export with -f"


@dataclass(frozen=True, slots=True)
class Access:
    """The options of kubectl that say which control cluster is asked, and as whom; "" for kubectl's own choice."""

    context: str = ""
    kubeconfig: str = ""
    user: str = ""

    def options(self) -> tuple[str, ...]:
        """Return them as arguments of kubectl."""
        given = (("--context", self.context), ("--kubeconfig", self.kubeconfig), ("--as", self.user))
        return tuple(f"{option}={value}" for option, value in given if value)


@dataclass(frozen=True)
class Kubectl:
    """kubectl with the options of an access."""

    access: Access = Access()

    @cached_property
    def program(self) -> str:
        """Return the path of the program; raises KubectlError when there is none."""
        found = shutil.which("kubectl")
        if found is None:
            raise KubectlError(_MISSING)
        return found

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of kubectl with these arguments."""
        return [self.program, *self.access.options(), *arguments]

    def run(self, *arguments: str, given: str | None = None) -> str:
        """Return what kubectl prints, with `given` on its standard input; raises KubectlError with its words."""
        done = subprocess.run(  # noqa: S603 - the arguments are those of the user, and go to no shell
            self.command(*arguments), input=given, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise KubectlError((done.stderr or done.stdout).strip())
        return done.stdout

    def replace(self, *arguments: str) -> int:
        """Run kubectl with our own standard input and output, and return its exit code."""
        return subprocess.run(self.command(*arguments), check=False).returncode  # noqa: S603 - as above

    def namespace(self) -> str:
        """Return the namespace of the context, `default` where it names none."""
        path: Sequence[str] = ("config", "view", "--minify", "-o", "jsonpath={.contexts[0].context.namespace}")
        try:
            return self.run(*path) or "default"
        except KubectlError as error:
            if "current-context must exist" in str(error):
                return "default"
            raise
