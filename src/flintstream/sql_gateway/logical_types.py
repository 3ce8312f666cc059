"""Types of columns in the form of JSON that Flink's gateway gives them."""

from __future__ import annotations

from flintstream.common._types import data_types as t
from flintstream.table._types.rules import BYTES, TEXTS, IntervalType, is_nullable

_NAMES: dict[type[t.DataType], str] = {
    t.NullType: "NULL",
    t.CharType: "CHAR",
    t.VarCharType: "VARCHAR",
    t.BinaryType: "BINARY",
    t.VarBinaryType: "VARBINARY",
    t.BooleanType: "BOOLEAN",
    t.TinyIntType: "TINYINT",
    t.SmallIntType: "SMALLINT",
    t.IntType: "INTEGER",
    t.BigIntType: "BIGINT",
    t.FloatType: "FLOAT",
    t.DoubleType: "DOUBLE",
    t.DecimalType: "DECIMAL",
    t.DateType: "DATE",
    t.TimeType: "TIME_WITHOUT_TIME_ZONE",
    t.TimestampType: "TIMESTAMP_WITHOUT_TIME_ZONE",
    t.LocalZonedTimestampType: "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    t.ArrayType: "ARRAY",
    t.MultisetType: "MULTISET",
    t.MapType: "MAP",
    t.RowType: "ROW",
}

Described = dict[str, object]


def logical_type(kind: t.DataType) -> Described:
    """Return the description of a type; one without a form in JSON is a text, as its values are.

    >>> logical_type(t.DataTypes.DECIMAL(5, 2).not_null())
    {'type': 'DECIMAL', 'nullable': False, 'precision': 5, 'scale': 2}
    """
    nullable = is_nullable(kind)
    if isinstance(kind, IntervalType):
        return _interval(kind, nullable=nullable)
    if type(kind) not in _NAMES:
        return {"type": "VARCHAR", "nullable": nullable, "length": t.MAX_LENGTH}
    return {"type": _NAMES[type(kind)], "nullable": nullable, **_parameters(kind)}


def _parameters(kind: t.DataType) -> Described:
    if isinstance(kind, TEXTS + BYTES):
        return {"length": kind.length}
    if isinstance(kind, t.DecimalType):
        return {"precision": kind.precision, "scale": kind.scale}
    if isinstance(kind, t.TimeType | t.TimestampType | t.LocalZonedTimestampType):
        return {"precision": kind.precision}
    if isinstance(kind, t.ArrayType | t.MultisetType):
        return {"elementType": logical_type(kind.element_type)}
    if isinstance(kind, t.MapType):
        return {"keyType": logical_type(kind.key_type), "valueType": logical_type(kind.value_type)}
    if isinstance(kind, t.RowType):
        return {"fields": [{"name": f.name, "fieldType": logical_type(f.data_type)} for f in kind.fields]}
    return {}


def _interval(kind: IntervalType, *, nullable: bool) -> Described:
    if kind.months:
        return {"type": "INTERVAL_YEAR_MONTH", "nullable": nullable, "precision": 2, "resolution": "MONTH"}
    return {
        "type": "INTERVAL_DAY_TIME",
        "nullable": nullable,
        "precision": 2,
        "fractionalPrecision": 3,
        "resolution": "SECOND",
    }
