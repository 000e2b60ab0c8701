"""What exports with symbolic sizes refuse, and how they say it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, export, lax
from numlift.core.dim_text import CLOSE, OPEN
from numlift.export.template import evaluator, filled

Struct = nl.ShapeDtypeStruct


def exported(f: Any, *shapes: str, constraints: Any = (), dtype: str = "float32") -> Any:
    scope = export.SymbolicScope(constraints)
    made = [Struct(export.symbolic_shape(s, scope=scope), dtype) for s in shapes]
    return export.deserialize(export.export(nl.jit(f))(*made).serialize())


def ones(*shape: int) -> numpy.ndarray:
    return numpy.ones(shape, "float32")


def total(*xs: Any) -> Any:
    return sum(x.sum() for x in xs)


def test_sizes_that_do_not_fit() -> None:
    f = exported(total, "b, 4", "2*b")
    assert f.call(ones(3, 4), ones(6)) == 18
    with pytest.raises(errors.ShapeError) as caught:
        f.call(ones(3, 4), ones(8))
    text = str(caught.value)
    assert "argument 1 must have size 2*b == 6 in axis 0, not 8, with b = 3" in text
    assert "exported: float32[2*b]" in text
    with pytest.raises(errors.ShapeError, match="argument 0 must have size 4 in axis 1, not 5"):
        f.call(ones(3, 5), ones(6))
    with pytest.raises(errors.ArgumentError, match="another type"):
        f.call(ones(3), ones(6))
    with pytest.raises(errors.ArgumentError, match="another type"):
        f.call(ones(3, 4).astype("int32"), ones(6))
    with pytest.raises(errors.ValueArgumentError, match=r"b >= 1 \(b is 0\)"):
        f.call(ones(0, 4), ones(0))
    with pytest.raises(errors.ShapeError, match="axis 0, not 8"):
        nl.jit(f.call)(ones(3, 4), ones(8))


def test_equations_without_solution() -> None:
    f = exported(total, "2*b")
    with pytest.raises(errors.ShapeError, match=r"size 3 in axis 0, and 2\*b == 3 has no solution"):
        f.call(ones(3))
    product = exported(total, "b", "b*k", "k + 1")
    assert product.call(ones(2), ones(6), ones(4)) == 12
    with pytest.raises(errors.ShapeError, match=r"argument 2 must have size k \+ 1 == 4"):
        product.call(ones(2), ones(6), ones(5))


def test_constraints_are_checked() -> None:
    f = exported(total, "b", "t", constraints=["mod(b, 4) == 0", "t <= 2*b", "t >= 3"])
    assert f.call(ones(4), ones(8)) == 12
    for b, t, text in ((3, 3, r"mod\(b, 4\) == 0"), (4, 9, r"t <= 2\*b"), (4, 2, "t >= 3")):
        with pytest.raises(errors.ValueArgumentError, match=text):
            f.call(ones(b), ones(t))


def test_equal_symbols() -> None:
    f = exported(total, "k, h", constraints=["k == 2*h"])
    assert str(f.in_avals[0].shape) == "(2*h, h)"
    assert f.call(ones(4, 2)) == 8
    with pytest.raises(errors.ShapeError, match=r"size 2\*h == 4 in axis 0, not 5"):
        f.call(ones(5, 2))


def test_symbols_that_nothing_determines() -> None:
    with pytest.raises(errors.ValueArgumentError, match="the sizes of b, k do not follow"):
        exported(total, "b*k")
    with pytest.raises(errors.ValueArgumentError, match="do not follow"):
        exported(total, "floordiv(b, 2)")


def test_two_scopes() -> None:
    x, y = (Struct(export.symbolic_shape(s), "float32") for s in ("b", "b"))
    with pytest.raises(errors.ValueArgumentError, match="different scopes"):
        export.export(nl.jit(total))(x, y)


@pytest.mark.parametrize(
    ("f", "error", "match"),
    [
        (lambda x: x[: int(x.shape[0])], errors.InconclusiveDimensionOperation, "b is used where"),
        (lambda x: [x[i] for i in range(x.shape[0])], ValueError, "b is used where a number"),
        (lambda x: x if x.shape[0] > 3 else -x, ValueError, "whether b > 3 differs"),
        (lambda x: lax.associative_scan(np.add, x), ValueError, "associative_scan"),
        (lambda x: x.reshape(2, -1), errors.ShapeError, "-1 has no solution"),
        (lambda x: x + np.ones(3), errors.ShapeError, "float32.b,5."),
        (lambda x: np.arange(0.5, x.shape[0]), errors.ArgumentError, "must be an integer"),
        (lambda x: lax.slice(x, (1, 0), (4, 5)), ValueError, "differs|slice"),
        (lambda x: np.delete(x, 0, axis=0), ValueError, "delete: the axis must have a number"),
        (lambda x: np.pad(x, 1, "reflect", reflect_type="odd"), ValueError, "odd reflection"),
    ],
)
def test_questions_that_are_open(f: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match) as caught:
        exported(f, "b, 5")
    assert "test_symbolic_errors.py" in str(caught.value)


def test_a_constraint_answers_them() -> None:
    f = exported(lambda x: x if x.shape[0] > 3 else -x, "b", constraints=["b >= 4"])
    assert f.call(ones(4))[0] == 1
    g = exported(lambda x: x.reshape(2, -1), "b, 5", constraints=["mod(b, 2) == 0"])
    assert g.call(ones(4, 5)).shape == (2, 10)


def test_outside_of_functions() -> None:
    (b,) = export.symbolic_shape("b")
    for make in (np.arange, np.zeros, np.asarray):
        with pytest.raises(errors.InconclusiveDimensionOperation):
            make(b)
    with pytest.raises(errors.InconclusiveDimensionOperation):
        b + 1.5
    with pytest.raises(errors.InconclusiveDimensionOperation, match="symbolic"):
        nl.jit(np.sin).lower(Struct((b,), "float32")).compile()


def test_texts_of_shapes() -> None:
    read = export.symbolic_shape
    assert str(
        read("b, 2*k - 1, b^2, (b + k)*3, floordiv(b, 2), mod(b, 3), max(b, k), min(b, k)")
    ) == ("(b, 2*k - 1, b^2, 3*b + 3*k, floordiv(b, 2), mod(b, 3), max(b, k), min(b, k))")
    assert read("") == ()
    assert read("4") == read("(4,)") == (4,)
    assert str(read("b, _, ...", like=(3, 4, 5, 6))) == "(b, 4, 5, 6)"
    for text in ("b+", "b c", "b.c", "f(b)", "1.5", "-3", "b / 2", "floordiv(b, 0)", "..., b"):
        with pytest.raises(errors.ValueArgumentError, match="cannot read"):
            read(text, like=(1,))
    with pytest.raises(errors.ValueArgumentError, match="need the argument `like`"):
        read("b, _")
    with pytest.raises(errors.ValueArgumentError, match="`like` has 3"):
        read("b, k", like=(1, 2, 3))
    with pytest.raises(errors.ValueArgumentError, match="no axis 1"):
        read("b, _", like=(1,))
    with pytest.raises(errors.ValueArgumentError, match="one of scope and constraints"):
        read("b", scope=export.SymbolicScope(), constraints=["b >= 2"])
    with pytest.raises(errors.ValueArgumentError, match="is a text"):
        read(("b", 4))  # type: ignore[arg-type]


def test_specs_of_arguments() -> None:
    args = (ones(3, 4), {"w": ones(4), "v": ones(4, 2)})
    x, rest = export.symbolic_args_specs(args, ("b, ...", None))
    assert str(x.shape) == "(b, 4)"
    assert rest["v"].shape == (4, 2)
    x, rest = export.symbolic_args_specs(args, ("b, _", {"w": "k", "v": "k, ..."}))
    assert str(rest["v"].shape) == "(k, 2)"
    assert rest["w"].shape[0].scope is x.shape[0].scope
    with pytest.raises(errors.TreeError):
        export.symbolic_args_specs(args, ("b, ...", None, None))
    with pytest.raises(errors.ValueArgumentError, match="`like` has 2"):
        export.symbolic_args_specs(args, ("b", None))


def test_templates() -> None:
    text = f"tensor<{OPEN}2*b{CLOSE}xf32>"
    assert filled(text, lambda e: 6 if e == "2*b" else 0) == "tensor<6xf32>"
    (b,) = export.symbolic_shape("b")
    value = evaluator(b.scope, {"b": 2**30})
    with pytest.raises(errors.ValueArgumentError, match="count in int32"):
        filled(text, value)


def test_constraints_without_sizes() -> None:
    with pytest.raises(errors.ValueArgumentError, match="no sizes were found"):
        exported(total, "b", constraints=["b >= 5", "b <= 4"])
