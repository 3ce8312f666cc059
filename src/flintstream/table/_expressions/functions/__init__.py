"""The scalar functions by subject; importing the modules defines them."""

from flintstream.table._expressions.functions import collections, json, numbers, objects, structures, text, times
from flintstream.table._expressions.functions.signatures import FUNCTIONS

__all__ = ["FUNCTIONS", "collections", "json", "numbers", "objects", "structures", "text", "times"]
