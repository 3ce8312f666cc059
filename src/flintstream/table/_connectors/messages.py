"""The formats of messages and lines by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._connectors import changes
from flintstream.table._connectors.csv import CsvDecoder, CsvEncoder
from flintstream.table._connectors.formats import JsonDecoder, JsonEncoder, Raw
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.avro import AvroMessages
    from flintstream.table._connectors.avro_confluent import RegistryMessages
    from flintstream.table._connectors.formats import Decoder, Encoder
    from flintstream.table._connectors.options import Options

FORMATS = ("avro", "avro-confluent", "csv", "json", "raw")
_PLANNED = (*changes.FORMATS, "ogg-json", "protobuf")


def decoder(kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "") -> Decoder:
    """Return what reads a message.

    Raises:
        SqlError: The format is unknown, or has no place for the columns.
    """
    both = _both_ways(kind, names, types, options, prefix)
    if both is not None:
        return both
    return (CsvDecoder if kind == "csv" else JsonDecoder)(names, types, options, f"{prefix}{kind}.")


def encoder(kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "") -> Encoder:
    """Return what writes a message.

    Raises:
        SqlError: The format is unknown, or has no place for the columns.
    """
    both = _both_ways(kind, names, types, options, prefix)
    if both is not None:
        return both
    return (CsvEncoder if kind == "csv" else JsonEncoder)(names, types, options, f"{prefix}{kind}.")


def _both_ways(
    kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str
) -> Raw | AvroMessages | RegistryMessages | None:
    """Return what both reads and writes a message; None for a format with a class for each."""
    _check(kind, options)
    if kind == "raw":
        return Raw(names, types, options)
    if kind == "avro":
        return _avro(names, types, options, prefix)
    return _with_registry(names, types, options, prefix) if kind == "avro-confluent" else None


def _avro(names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> AvroMessages:
    from flintstream.table._connectors.avro import AvroMessages

    options.not_yet(f"{prefix}avro.encoding", "binary")
    options.known(f"{prefix}avro.timestamp_mapping.legacy")
    return AvroMessages(names, types)


def _with_registry(names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> RegistryMessages:
    from flintstream.table._connectors.avro_confluent import RegistryMessages

    return RegistryMessages(names, types, options, prefix, "key" if prefix == "key." else "value")


def _check(kind: str, options: Options) -> None:
    if kind not in FORMATS:
        known = "is not supported yet" if kind in _PLANNED else "is unknown"
        raise SqlError(f"table '{options.table}': the format '{kind}' {known}{nearest(kind, FORMATS)}")
