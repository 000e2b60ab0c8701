"""The exception classes, their built-in bases, and the form of messages."""

import pickle
import warnings

import numpy as np
import pytest

from numlift import errors

BASES = {
    "RefError": ValueError,
    "ShapeError": ValueError,
    "DTypeError": TypeError,
    "LinAlgError": np.linalg.LinAlgError,
    "AxisError": np.exceptions.AxisError,
    "ArgumentError": TypeError,
    "AutostageError": TypeError,
    "ValueArgumentError": ValueError,
    "InconclusiveDimensionOperation": ValueError,
    "IndexingError": IndexError,
    "TypePromotionError": ValueError,
    "ConcretizationTypeError": TypeError,
    "TracerArrayConversionError": TypeError,
    "TracerBoolConversionError": errors.ConcretizationTypeError,
    "TracerIntegerConversionError": TypeError,
    "NonConcreteBooleanIndexError": IndexError,
    "UnexpectedTracerError": TypeError,
    "UnhashableStaticError": ValueError,
    "KeyReuseError": RuntimeError,
    "NotElementwiseError": RuntimeError,
    "GradError": TypeError,
    "TreeError": ValueError,
    "ShardingError": ValueError,
    "DeviceError": RuntimeError,
    "CompileError": RuntimeError,
    "ExecutionError": RuntimeError,
    "OutOfMemoryError": MemoryError,
    "ImmutableArrayError": TypeError,
    "DeletedBufferError": RuntimeError,
    "DonationError": ValueError,
    "UnboundAxisError": NameError,
    "VmapError": ValueError,
    "IntegerOverflowError": OverflowError,
    "ZeroStepError": ZeroDivisionError,
    "ZeroSumError": ZeroDivisionError,
    "GraphVerifyError": AssertionError,
    "InternalError": RuntimeError,
}


@pytest.mark.parametrize("name", BASES)
def test_class(name):
    cls = getattr(errors, name)
    assert issubclass(cls, errors.NumliftError)
    assert issubclass(cls, BASES[name])
    error = cls("f: a rule\nTry: something")
    assert str(error) == "f: a rule\nTry: something"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert str(again) == str(error)


def test_every_class_is_listed():
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.NumliftError)
    }
    assert classes == {*BASES, "NumliftError", "JaxRuntimeError"}
    assert classes <= set(errors.__all__)


def test_axis_error_is_value_and_index_error():
    with pytest.raises(ValueError, match="axis 3"):
        raise errors.AxisError("sum: axis 3")
    with pytest.raises(IndexError, match="axis 3"):
        raise errors.AxisError("sum: axis 3")


def test_explain_finds_the_line_of_the_caller():
    text = errors.explain("dot", "sizes differ", {"x": 1, "y": np.zeros((2, 3))}, try_="x.T")
    lines = text.splitlines()
    assert lines[0] == "dot: sizes differ"
    assert lines[1:3] == ["  x: 1", "  y: float64[2,3]"]
    assert lines[3].startswith("  at test_errors.py:")
    assert 'errors.explain("dot", "sizes differ"' in lines[3]
    assert lines[4:] == ["Try: x.T"]


def test_explain_with_given_line_and_long_operand():
    text = errors.explain("f", "rule", {"x": "a" * 500}, line="m.py:1: f(x)")
    lines = text.splitlines()
    assert lines[1].endswith("...")
    assert len(lines[1]) < 250
    assert lines[2:] == ["  at m.py:1: f(x)"]


def test_the_users_line_is_found():
    assert "test_errors.py" in (errors.locate() or "")


def test_source_line_without_file():
    assert errors.source_line("/nowhere/m.py", 3) == "m.py:3"


def test_user_depth_points_at_the_user():
    with pytest.warns(UserWarning, match="w") as caught:
        warnings.warn("w", UserWarning, stacklevel=errors.user_depth())
    assert caught[0].filename == __file__
