"""The scalar functions by subject; importing the modules defines them."""

from flintstream.table._expressions.functions import collections, numbers, structures, text, times
from flintstream.table._expressions.functions.signatures import FUNCTIONS

__all__ = ["FUNCTIONS", "collections", "numbers", "structures", "text", "times"]
