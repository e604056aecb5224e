"""How the functions log: one JSON object per line, or colored lines on a terminal; always to stderr."""

import logging
import sys

import structlog


def configure_logs(*, debug: bool) -> None:
    """Log from level info on, or from debug on with `debug`. Tracebacks contain no values of variables."""
    plain = [
        structlog.processors.format_exc_info,
        structlog.processors.EventRenamer("msg"),
        structlog.processors.JSONRenderer(),
    ]
    on_terminal = [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(on_terminal if sys.stderr.isatty() else plain),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if debug else logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
