"""What pages take from the code is as the code has it now; `make generate` writes it."""

from pathlib import Path

from modelplane_dev.pages import proofs, read_proofs, read_rules, with_steps

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_each_name_of_a_rule_stands_once_and_has_tests_that_prove_it_and_no_test_proves_another() -> None:
    rules = read_rules()
    assert len(rules) == len(set(rules)) > 150
    assert sorted(rules) == sorted(read_proofs())


def test_the_page_of_the_tests_is_up_to_date() -> None:
    assert (DOCS / "proofs.md").read_text() == proofs()


def test_the_steps_of_a_pass_stand_on_the_page_as_in_the_code() -> None:
    text = (DOCS / "scheduling.md").read_text()
    assert "1. `end_duplicates` (`endings.py`)" in text
    assert with_steps(text) == text
