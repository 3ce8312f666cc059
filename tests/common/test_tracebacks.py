"""Shortened tracebacks have the lines of the program, and what these call."""

from __future__ import annotations

import json
from pathlib import Path
from types import FunctionType

import flintstream
from flintstream.common._user_code.tracebacks import shorten_tracebacks, steps_of


def encode(value, function):
    return json.dumps(value, default=function, indent=1)


def fail(value):
    raise LookupError(value)


def files_after(call):
    try:
        call()
    except LookupError as error:
        shorten_tracebacks(error)
        return [Path(step.tb_frame.f_code.co_filename).name for step in steps_of(error.__traceback__)]


def test_the_standard_library_between_our_code_and_a_function_of_the_program_is_left_out():
    path = Path(flintstream.__file__).with_name("encode.py")
    ours = FunctionType(encode.__code__.replace(co_filename=str(path)), globals())
    assert files_after(lambda: ours([object()], fail)) == ["test_tracebacks.py"] * 3


def test_the_standard_library_that_the_program_calls_stays():
    files = files_after(lambda: encode([object()], fail))
    assert files[:3] == ["test_tracebacks.py"] * 3
    assert "encoder.py" in files
