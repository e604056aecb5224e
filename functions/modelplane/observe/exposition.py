"""Series of a fleet in the form that Prometheus scrapes: read anew each time, so that what is gone is gone here too."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from modelplane.reading.series import Series

_PREFIX: Final = "modelplane_"


class Collected(Collector):
    """Collects what `read` returns at each scrape."""

    def __init__(self, read: Callable[[], Iterable[Series]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield each series with its samples."""
        for series in self._read():
            of = CounterMetricFamily if series.counter else GaugeMetricFamily
            family = of(_PREFIX + series.name, series.text, labels=series.labels)
            for labels, value in sorted(series.samples.items()):
                family.add_metric(labels, value)
            yield family

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: a registry need not read a fleet to know names."""
        yield from ()


def expose(series: Iterable[Series]) -> bytes:
    """Return series in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(Collected(lambda: series))
    return generate_latest(registry)
