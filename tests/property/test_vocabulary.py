"""The random fleets' selectors against the real ones."""

from hypothesis import given
from hypothesis import strategies as st

from modelplane import cel
from modelplane.model.fleet import Device
from property.oracles.selectors import VOCABULARY, Answer, answer
from property.strategies import examples, gpus, nics


@given(st.one_of(gpus("gpu-0"), nics()))
@examples(40)
def test_the_vocabulary_means_what_the_real_selectors_say(device: Device) -> None:
    same = {cel.Outcome.MATCH: Answer.YES, cel.Outcome.NO_MATCH: Answer.NO, cel.Outcome.ERROR: Answer.ERROR}
    for text in VOCABULARY:
        assert same[cel.compile(text).evaluate(device).outcome] is answer((text,), device), text
