"""Hypothesis strategies for names as an API server admits them: short, as long as may be, and nothing but dashes."""

from hypothesis import strategies as st

#: Where an engine is: the namespace of its team, its replica, and its own name.
Place = tuple[str, str, str]
_ENDS = st.sampled_from("abz09")
_WITHIN = st.text(st.sampled_from("ab0-"), max_size=61)
_DASHES = st.integers(0, 61).map(lambda count: "-" * count)
#: Names of one label, as of namespaces and ModelServices.
labels = st.one_of(_ENDS, st.builds("{}{}{}".format, _ENDS, st.one_of(_WITHIN, _DASHES), _ENDS))
#: Names of several labels, as of ModelEndpoints.
names = st.one_of(labels, st.lists(labels, min_size=1, max_size=3).map(".".join))
#: What composites compose for the gateway.
parts = st.sampled_from(("authority", "caller-keys", "credential", "route", "backend-entry-all-0", "answer-401"))
#: Places, of which many differ by where one name ends and the next begins.
places = st.one_of(st.tuples(labels, labels, labels), st.tuples(*[st.sampled_from(("a", "a-a", "a-a-a"))] * 3))
