"""Commands that run side by side."""

from click.testing import CliRunner

from modelplane_dev.processes.beside import main


def test_the_last_lines_of_a_command_that_failed_stand_at_the_end_of_all() -> None:
    ran = CliRunner().invoke(main, ["one=sh -c 'echo broken; exit 3'", "two=sh -c 'echo fine'"])

    assert ran.exit_code == 3
    lines = [each for each in ran.output.splitlines() if " after " not in each]
    assert sorted(lines[:2]) == ["one | broken", "two | fine"]
    assert lines[2:] == ["one | broken"]


def test_the_tests_that_failed_are_the_very_last_however_long_their_messages_are() -> None:
    printed = "echo FAILED test_a - assert 0; seq 100; echo ERROR test_b - no plane; seq 100; exit 1"

    ran = CliRunner().invoke(main, [f"one=sh -c '{printed}'"])

    assert ran.output.splitlines()[-2:] == ["one | FAILED test_a - assert 0", "one | ERROR test_b - no plane"]
