"""The text of refusals, and of a schedule as a whole."""

from modelplane.scheduling.words.choice import word_choice
from modelplane.scheduling.words.report import Report, explain, why_not, word_edit
from modelplane.scheduling.words.tally import Counted, word_refusals
from modelplane.scheduling.words.waiting_edit import word_no_room
from modelplane.scheduling.words.wording import (
    WHOLE,
    count,
    find_remedy,
    listed,
    quote,
    remedies_of,
    remedy_of,
    word,
    word_holders,
)

__all__ = [
    "WHOLE",
    "Counted",
    "Report",
    "count",
    "explain",
    "find_remedy",
    "listed",
    "quote",
    "remedies_of",
    "remedy_of",
    "why_not",
    "word",
    "word_choice",
    "word_edit",
    "word_holders",
    "word_no_room",
    "word_refusals",
]
