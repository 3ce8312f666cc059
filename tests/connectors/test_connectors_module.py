from __future__ import annotations

from flintstream.datastream import connectors


def test_every_exported_name_is_there():
    assert all(getattr(connectors, name) is not None for name in connectors.__all__)


def test_any_other_name_is_an_attribute_error():
    assert not hasattr(connectors, "Nonsense")
