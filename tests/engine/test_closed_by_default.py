"""Nothing listens unless the program asks for it, and then on this machine only."""

from __future__ import annotations

import pytest

from flintstream.engine.spark.session import resolved
from flintstream.options.metrics import PROMETHEUS_HOST, PROMETHEUS_PORT


@pytest.mark.promise("S13")
def test_spark_s_web_interface_is_off_and_a_local_master_listens_on_this_machine_only():
    conf = resolved({"spark.master": "local[2]"}, {})
    assert conf["spark.ui.enabled"] == "false"
    assert conf["spark.driver.host"] == conf["spark.driver.bindAddress"] == "127.0.0.1"
    assert resolved({"spark.master": "local[2]", "spark.ui.enabled": "true"}, {})["spark.ui.enabled"] == "true"


@pytest.mark.promise("S14")
def test_the_port_for_prometheus_is_off_and_on_this_machine_only():
    assert PROMETHEUS_PORT.read({}) is None
    assert PROMETHEUS_HOST.read({}) == "127.0.0.1"
