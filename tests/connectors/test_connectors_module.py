from __future__ import annotations

from pathlib import Path

import pytest

from flintstream.compat._stand_ins import advice
from flintstream.datastream import connectors


def test_every_exported_name_is_there():
    assert all(getattr(connectors, name) is not None for name in connectors.__all__)


def test_a_connector_that_is_missing_says_so_and_names_an_example():
    with pytest.raises(
        ImportError, match="PulsarSource: the Pulsar connector is not available in this version"
    ) as found:
        from flintstream.datastream.connectors import PulsarSource  # noqa: F401
    assert "examples/connectors/pulsar_source.py" in str(found.value)


@pytest.mark.parametrize("name", ["pulsar"])
def test_the_module_of_a_connector_that_is_missing_names_an_example_that_is_there(name):
    message = advice(f"pyflink.datastream.connectors.{name}")
    (example,) = [word for word in message.split() if word.startswith("examples/")]
    assert (Path(__file__).parents[2] / example).exists()
    with pytest.raises(ImportError) as found:
        getattr(connectors, name)
    assert example in str(found.value)


def test_any_other_name_is_an_attribute_error():
    assert not hasattr(connectors, "Nonsense")
