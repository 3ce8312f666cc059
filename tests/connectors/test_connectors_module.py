from __future__ import annotations

import pytest

from flintstream.datastream import connectors


def test_every_exported_name_is_there():
    assert all(getattr(connectors, name) is not None for name in connectors.__all__)


def test_a_connector_that_is_missing_says_so():
    with pytest.raises(ImportError, match="PulsarSource: the Pulsar connector is not available in this version"):
        from flintstream.datastream.connectors import PulsarSource  # noqa: F401


def test_any_other_name_is_an_attribute_error():
    assert not hasattr(connectors, "Nonsense")
