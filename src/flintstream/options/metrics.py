"""The options for reporters of metrics."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import TEXT, count, duration
from flintstream.options.units import SECOND

PROMETHEUS_PORT = Option(
    "flintstream.metrics.prometheus.port",
    count(0, 65_535),
    None,
    "port at which the driver shows the [metrics](metrics.md) of its jobs to Prometheus; `0` chooses a free one",
)
PROMETHEUS_HOST = Option(
    "flintstream.metrics.prometheus.host",
    TEXT,
    "127.0.0.1",
    "address of that port. Without the next option, the endpoint shows the metrics to everyone who can reach it",
)
PROMETHEUS_TOKEN_FILE = Option(
    "flintstream.metrics.prometheus.token-file",
    TEXT,
    None,
    "file with a token that the endpoint asks for as `Authorization: Bearer`; Prometheus calls it `credentials_file`",
)
OTLP_ENDPOINT = Option(
    "flintstream.metrics.otlp.endpoint",
    TEXT,
    None,
    "URL to which the driver sends metrics by OTLP over HTTP, such as `http://localhost:4318/v1/metrics`",
)
REPORT_INTERVAL = Option(
    "flintstream.metrics.otlp.interval", duration(1), 10 * SECOND, "how often metrics are sent by OTLP"
)

OPTIONS = options_in(globals())
