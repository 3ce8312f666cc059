"""The names of PyFlink's API that the matrix needs: flintstream's, or PyFlink's where flintstream is not installed."""

# mypy: disable-error-code="import-not-found,import-untyped,assignment,no-redef"
try:
    from flintstream.common import Instant, Row, RowKind, Types
    from flintstream.common.typeinfo import LocalTimeTypeInfo
except ImportError:
    from pyflink.common import Instant, Row, RowKind, Types
    from pyflink.common.typeinfo import LocalTimeTypeInfo

__all__ = ["Instant", "LocalTimeTypeInfo", "Row", "RowKind", "Types"]
