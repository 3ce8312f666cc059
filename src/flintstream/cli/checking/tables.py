"""Tables that a program makes of known values with the Table API: the check makes the same ones, without rows."""

from __future__ import annotations

import ast
import inspect
import operator
from typing import TYPE_CHECKING, TypeGuard

from flintstream.common._types.data_types import DataType, RowType
from flintstream.errors import FlintstreamError
from flintstream.table.expression import Expression
from flintstream.table.table import Table
from flintstream.table.table_environment import TableEnvironment
from flintstream.table.udf import udf

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.cli.checking.inference import Known, Names
    from flintstream.cli.checking.texts import Texts

__all__ = ["DECLARING", "NOT_KNOWN", "Tables"]

NOT_KNOWN = object()
"""The value of what depends on a run of the program."""

DECLARING = {"create_table", "create_temporary_table", "create_temporary_view", "create_view", "register_table"}
MAKING = {"from_descriptor", "from_elements", "from_path", "sql_query", *DECLARING}
"""The methods of table environments that a check calls."""

ENDS = {
    "add_insert", "execute", "execute_insert", "explain", "insert_into", "print_explain", "print_schema", "to_pandas",
}  # fmt: skip
"""The methods of tables that run, print or write something."""

MODULES = (
    "flintstream.common._types", "flintstream.common.typeinfo", "flintstream.table",
)  # fmt: skip
OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip


class Tables:
    """The values of expressions, each made once, and the errors of making them."""

    def __init__(self, names: Names, texts: Texts, t_env: TableEnvironment) -> None:
        """Use the table environment of the check for all those of the program."""
        self._errors: list[tuple[ast.Call, FlintstreamError]] = []
        self._names, self._texts, self._t_env = names, texts, t_env
        self._values: dict[int, object] = {}

    def value(self, node: ast.AST) -> object:
        """Return the value of an expression in each run of the program, or ``NOT_KNOWN``."""
        if id(node) not in self._values:
            self._values[id(node)] = NOT_KNOWN  # while it is looked for
            self._values[id(node)] = self._evaluate(node)
        return self._values[id(node)]

    @staticmethod
    def is_table(value: object) -> TypeGuard[Table]:
        """Tell whether a value is a table."""
        return isinstance(value, Table)

    def declare_function(self, call: ast.Call) -> bool:
        """Register a Python function by name and types, without what it does; tell whether these are known."""
        if len(call.args) != 2 or call.keywords:
            return False
        name, definition = self.value(call.args[0]), self._definition(call.args[1])
        if not isinstance(name, str) or definition is None:
            return False
        given = {one.arg: self.value(one.value) for one in definition.keywords}
        inputs, result = given.get("input_types"), given.get("result_type")
        inputs = inputs if isinstance(inputs, list) else [inputs]
        types = [kind for kind in inputs if isinstance(kind, (DataType, str))]
        if not isinstance(result, (DataType, str)) or len(types) < len(inputs):
            return False
        self._t_env.create_temporary_system_function(name, udf(lambda *_: None, types, result, name=name))
        return True

    def _definition(self, node: ast.expr) -> ast.Call | None:
        """Return the call of ``udf`` that makes a function, as its decorator or with a function as argument."""
        functions = self._names.decorated.get(node.id, []) if isinstance(node, ast.Name) else []
        made = self._names.find_value(node) if isinstance(node, ast.Name) else node
        for found in functions[0].decorator_list if len(functions) == 1 else [made]:
            known = self._names.resolve(found.func) if isinstance(found, ast.Call) else None
            if isinstance(found, ast.Call) and known is not None and known.value is udf:
                return found
        return None

    def take_errors(self) -> list[tuple[ast.Call, FlintstreamError]]:
        """Return the calls that have raised an error since the last time."""
        errors, self._errors = self._errors, []
        return errors

    def _evaluate(self, node: ast.AST) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            text = self._texts.of(node)
            if text is not None:
                return text
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [self.value(item) for item in node.elts]
            if any(item is NOT_KNOWN for item in items):
                return NOT_KNOWN
            return tuple(items) if isinstance(node, ast.Tuple) else items
        if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            owner = self.value(node.value)
            if _is_open(owner):
                return getattr(owner, node.attr, NOT_KNOWN)
        known = self._names.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if known is not None and (made := self._of_known(known)) is not NOT_KNOWN:
            return made
        if isinstance(node, ast.Name):
            bound = self._names.find_value(node)
            if isinstance(bound, (ast.List, ast.Dict, ast.Set)):
                return NOT_KNOWN  # something may have been added since
            made = NOT_KNOWN if bound is None else self.value(bound)
            return NOT_KNOWN if type(made).__name__.endswith("Builder") else made
        return NOT_KNOWN

    def _of_known(self, known: Known) -> object:
        if not known.instance:
            return known.value
        is_env = isinstance(known.value, type) and issubclass(known.value, TableEnvironment)
        return self._t_env if is_env else NOT_KNOWN

    def _operation(self, node: ast.BinOp | ast.Compare | ast.UnaryOp) -> object:
        if isinstance(node, ast.Compare):
            parts, kinds = [node.left, *node.comparators], list(map(type, node.ops))
        elif isinstance(node, ast.BinOp):
            parts, kinds = [node.left, node.right], [type(node.op)]
        else:
            parts, kinds = [node.operand], [type(node.op)]
        values = [self.value(part) for part in parts]
        known = len(kinds) == 1 and kinds[0] in OPERATORS and not any(value is NOT_KNOWN for value in values)
        if not known or not any(isinstance(value, Expression) for value in values):
            return values[0].__neg__() if kinds == [ast.USub] and isinstance(values[0], int) else NOT_KNOWN
        return OPERATORS[kinds[0]](*values)

    def _call(self, node: ast.Call) -> object:
        called = self._callable(node.func)
        if called is None:
            return NOT_KNOWN
        values = [self.value(argument) for argument in node.args]
        named = {str(one.arg): self.value(one.value) for one in node.keywords}
        if getattr(called, "__name__", "") == "from_elements":
            _leave_elements_out(values, named)
        if "None" in named or any(value is NOT_KNOWN for value in named.values()):
            return NOT_KNOWN
        known = [value for value in values if value is not NOT_KNOWN]
        all_known = len(known) == len(values)
        if not all_known and (called.__name__ != "select" or not known):
            return NOT_KNOWN
        try:
            made = called(*known, **named)
        except FlintstreamError as error:
            self._errors.append((node, error))
            return NOT_KNOWN
        except (AttributeError, TypeError, ValueError):  # of what other checks look at
            return NOT_KNOWN
        return made if all_known else NOT_KNOWN

    def _callable(self, node: ast.expr) -> Callable[..., object] | None:
        """Return what a call calls, if a check may call it."""
        if isinstance(node, ast.Attribute):
            name, owner = node.attr, self.value(node.value)
            if isinstance(owner, TableEnvironment) or (owner is NOT_KNOWN and self._names.resolve(node.value) is None):
                return getattr(self._t_env, name) if name in MAKING else None
            if owner is NOT_KNOWN or name in ENDS:
                return None
        found = self.value(node)
        if not (inspect.isroutine(found) or inspect.isclass(found)) or not found.__module__:
            return None
        return found if found.__module__.startswith(MODULES) else None


def _is_open(value: object) -> bool:
    return str(getattr(type(value), "__module__", "")).startswith(MODULES)


def _leave_elements_out(values: list[object], named: dict[str, object]) -> None:
    """Take no rows for those that are not known, if a type says what they are."""
    schema = values[1] if len(values) > 1 else named.get("schema")
    if isinstance(schema, RowType) and values and values[0] is NOT_KNOWN:
        values[0] = []
