"""Commands that run side by side."""

from click.testing import CliRunner

from modelplane_dev.processes.beside import main


def test_the_last_lines_of_a_command_that_failed_stand_at_the_end_of_all() -> None:
    ran = CliRunner().invoke(main, ["one=sh -c 'echo FAILED test_a; exit 3'", "two=sh -c 'sleep 0.2; echo fine'"])

    assert ran.exit_code == 3
    lines = [each for each in ran.output.splitlines() if " after " not in each]
    assert lines == ["one | FAILED test_a", "two | fine", "one | FAILED test_a"]
