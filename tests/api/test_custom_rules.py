"""custom_jvp, custom_vjp: rules in every mode, symbolic zeros, closures over traced values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.custom_derivatives import CustomVJPPrimal, SymbolicZero, zero_from_primal


def close(a: Any, b: Any, rtol: float = 1e-5) -> None:
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=rtol, atol=1e-6)


# ---- every way to differentiate ------------------------------------------------------------------


@nl.custom_jvp
def by_jvp(x: Any, y: Any) -> Any:
    return np.sin(x) * y


@by_jvp.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return by_jvp(x, y), 2 * np.cos(x) * y * dx + np.sin(x) * dy


@nl.custom_vjp
def by_vjp(x: Any, y: Any) -> Any:
    return np.sin(x) * y


by_vjp.defvjp(
    lambda x, y: (by_vjp(x, y), (x, y)),
    lambda res, ct: (2 * np.cos(res[0]) * res[1] * ct, np.sin(res[0]) * ct),
)


@nl.custom_jvp
def by_both(x: Any, y: Any) -> Any:
    return np.sin(x) * y


by_both.defjvp(
    lambda p, t: (
        by_both(*p),
        2 * np.cos(p[0]) * p[1] * t[0] + np.sin(p[0]) * t[1],
    )
)
by_both.defvjp(
    lambda x, y: (by_both(x, y), (x, y)),
    lambda res, ct: (2 * np.cos(res[0]) * res[1] * ct, np.sin(res[0]) * ct),
)
RULES = {"jvp": by_jvp, "vjp": by_vjp, "both": by_both}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("wrap", [lambda f: f, nl.jit, nl.checkpoint])
def test_every_mode_uses_the_rule(name: str, wrap: Callable[[Any], Any]) -> None:
    f = wrap(RULES[name])
    x, y = 0.4, 1.5
    slope = 2 * numpy.cos(x) * y
    close(f(x, y), numpy.sin(x) * y)
    close(nl.grad(f, (0, 1))(x, y), (slope, numpy.sin(x)))
    close(nl.jvp(f, (x, y), (1.0, 1.0))[1], slope + numpy.sin(x))
    close(nl.jacfwd(f)(x, y), slope)
    close(nl.linearize(f, x, y)[1](1.0, 0.0), slope)
    curvature = -2 * numpy.sin(x) * y
    close(nl.grad(nl.grad(f))(x, y), curvature)
    close(nl.jacfwd(nl.jacfwd(f))(x, y), curvature)
    close(nl.hessian(f)(x, y), curvature)
    xs = numpy.array([x, 2.0], "float32")
    close(nl.vmap(f, (0, None))(xs, y), numpy.sin(xs) * y)
    close(nl.vmap(nl.grad(f), (0, None))(xs, y), 2 * numpy.cos(xs) * y)
    close(nl.vmap(nl.jacfwd(f), (0, None))(xs, y), 2 * numpy.cos(xs) * y)
    close(nl.grad(lambda x: nl.vmap(f, (0, None))(x, y).sum())(xs), 2 * numpy.cos(xs) * y)
    total = nl.grad(lambda y: nl.vmap(f, (0, None))(xs, y).sum())(y)
    close(total, numpy.sin(xs).sum())
    scanned = lambda x: lax.scan(lambda c, _: (f(c, y), None), x, None, 1)[0]
    close(nl.grad(scanned)(x), slope)
    close(nl.grad(lambda x: lax.cond(x > 0, lambda x: f(x, y), lambda x: x, x))(x), slope)


def test_a_backward_rule_that_is_not_linear_has_no_forward_mode() -> None:
    @nl.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, None), lambda _, ct: (np.clip(ct, -1, 1),))
    assert float(nl.grad(lambda x: 5 * f(x))(1.0)) == 1.0
    with pytest.raises(errors.GradError, match="not linear in the cotangent"):
        nl.jvp(f, (1.0,), (1.0,))
    f.defjvp(lambda p, t: (p[0], 7 * t[0]))
    assert float(nl.jvp(f, (1.0,), (1.0,))[1]) == 7.0
    assert float(nl.jacfwd(nl.jit(f))(1.0)) == 7.0
    assert float(nl.grad(lambda x: 5 * f(x))(1.0)) == 1.0


def test_defjvps_and_arguments_that_are_trees() -> None:
    @nl.custom_jvp
    def f(p: Any, y: Any) -> Any:
        return {"out": p["a"] * y}

    f.defjvps(lambda d, out, p, y: {"out": 3 * d["a"] * y}, None)
    got = nl.grad(lambda p, y: f(p, y)["out"], (0, 1))({"a": 2.0}, 5.0)
    assert float(got[0]["a"]) == 15.0
    assert float(got[1]) == 0.0


def test_keyword_arguments_defaults_and_methods() -> None:
    class Layer:
        @partial(nl.custom_jvp, nondiff_argnums=(0,))
        def apply(self, x: Any, scale: Any = 2.0) -> Any:
            return x * scale

        apply.defjvp(lambda self, p, t: (p[0] * p[1], t[0] * 10))

    assert float(Layer().apply(3.0)) == 6.0
    assert float(nl.grad(Layer().apply)(3.0)) == 10.0
    assert float(nl.grad(lambda x: Layer().apply(x, scale=4.0))(3.0)) == 10.0


# ---- symbolic zeros ------------------------------------------------------------------------------


def test_symbolic_zeros_in_forward_rules() -> None:
    seen: list[Any] = []

    @nl.custom_jvp
    def f(x: Any, y: Any, n: Any) -> Any:
        return x * y

    def rule(primals: Any, tangents: Any) -> Any:
        seen.append(tangents)
        x, y, _ = primals
        return x * y, tangents[0] if isinstance(tangents[1], SymbolicZero) else zero_from_primal(x)

    f.defjvp(rule, symbolic_zeros=True)
    assert float(nl.grad(f)(1.0, 2.0, 3)) == 1.0
    assert [type(t) is SymbolicZero for t in seen[-1]] == [False, True, True]
    assert seen[-1][1].shape == ()
    assert seen[-1][1].dtype == numpy.float32
    assert seen[-1][2].dtype == nl.dtypes.float0
    close(nl.vmap(nl.grad(f), (0, None, None))(np.ones(2), 2.0, 3), [1, 1])
    assert float(nl.grad(nl.jit(f))(1.0, 2.0, 3)) == 1.0
    assert float(nl.grad(f, 1)(1.0, 2.0, 3)) == 0.0


def test_symbolic_zeros_in_reverse_rules() -> None:
    seen: dict[str, Any] = {}

    @nl.custom_vjp
    def f(x: Any, y: Any, n: Any) -> Any:
        return x * y, y, n

    def fwd(x: Any, y: Any, n: Any) -> Any:
        seen["fwd"] = (x, y, n)
        return (x.value * y.value, y.value, n.value), (x.value, y.value)

    def bwd(residuals: Any, ct: Any) -> Any:
        seen["bwd"] = ct
        return residuals[1] * ct[0], None, SymbolicZero(None)

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    for transform in (nl.grad, lambda g: nl.jit(nl.grad(g)), lambda g: nl.grad(nl.jit(g))):
        assert float(transform(lambda x: f(x, 2.0, 3)[0])(1.0)) == 2.0
        assert all(isinstance(x, CustomVJPPrimal) for x in seen["fwd"])
        assert [x.perturbed for x in seen["fwd"]] == [True, False, False]
        assert [type(c) is SymbolicZero for c in seen["bwd"]] == [False, True, True]
    close(nl.vmap(nl.grad(lambda x: f(x, 2.0, 3)[0]))(np.ones(2)), [2, 2])
    close(nl.grad(lambda x: nl.vmap(lambda x: f(x, 2.0, 3)[0])(x).sum())(np.ones(2)), [2, 2])


def test_none_stands_for_zero_cotangents_of_whole_trees() -> None:
    @nl.custom_vjp
    def f(p: Any, y: Any) -> Any:
        return p["a"] * p["b"] * y

    f.defvjp(lambda p, y: (f(p, y), None), lambda _, ct: (None, 3 * ct))
    d_p, d_y = nl.grad(f, (0, 1))({"a": 1.0, "b": 2.0}, 1.0)
    assert {k: float(v) for k, v in d_p.items()} == {"a": 0.0, "b": 0.0}
    assert float(d_y) == 3.0
    f.defvjp(lambda p, y: (f(p, y), None), lambda _, ct: ({"a": ct, "b": None}, None))
    assert float(nl.jit(nl.grad(f))({"a": 1.0, "b": 2.0}, 1.0)["a"]) == 1.0


# ---- closures ------------------------------------------------------------------------------------


def jvp_closure(x: Any, c: Any) -> Any:
    @nl.custom_jvp
    def f(x: Any) -> Any:
        return x * c

    f.defjvp(lambda p, t: (f(*p), t[0] * c))
    return f(x)


def vjp_closure(x: Any, c: Any) -> Any:
    table = {"c": c}

    @nl.custom_vjp
    def f(x: Any) -> Any:
        return x * table["c"]

    f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * nl.jit(lambda y: y * table["c"])(1.0),))
    return f(x)


@partial(nl.custom_jvp, nondiff_argnums=(1,))
def jvp_nondiff(x: Any, c: Any) -> Any:
    return x * c


jvp_nondiff.defjvp(lambda c, p, t: (jvp_nondiff(p[0], c), t[0] * c))


@partial(nl.custom_vjp, nondiff_argnames=("c",))
def vjp_nondiff(x: Any, c: Any) -> Any:
    return x * c


vjp_nondiff.defvjp(lambda x, c: (vjp_nondiff(x, c), None), lambda c, _, ct: (ct * c,))
CLOSURES = [jvp_closure, vjp_closure, jvp_nondiff, vjp_nondiff]


@pytest.mark.parametrize("f", CLOSURES)
def test_rules_close_over_traced_values(f: Any) -> None:
    cs = np.arange(2.0)
    close(nl.grad(f)(1.0, 2.0), 2)
    close(nl.jit(nl.grad(f))(1.0, 2.0), 2)
    close(nl.grad(nl.jit(f))(1.0, 2.0), 2)
    close(nl.jit(nl.grad(nl.jit(f)))(1.0, 2.0), 2)
    close(nl.vmap(nl.grad(f))(np.ones(2), cs), cs)
    close(nl.vmap(nl.jit(nl.grad(nl.jit(f))), (None, 0))(1.0, cs), cs)
    close(nl.grad(lambda x: nl.vmap(f)(x, cs).sum())(np.ones(2)), cs)
    close(nl.grad(nl.jit(lambda x: nl.vmap(f)(x, cs).sum()))(np.ones(2)), cs)
    scanned = lambda x: lax.scan(lambda c, a: (f(c, a), None), x, np.arange(1.0, 4.0))[0]
    close(nl.grad(scanned)(1.0), 6)
    close(nl.jvp(lambda x: f(x, 3.0), (1.0,), (1.0,))[1], 3)
    close(nl.jit(lambda x, c: nl.jvp(lambda x: f(x, c), (x,), (x,)))(1.0, 3.0)[1], 3)
    close(nl.grad(nl.grad(nl.jit(f)))(1.0, 3.0), 0)


@pytest.mark.parametrize("f", CLOSURES)
def test_a_closure_has_no_derivative(f: Any) -> None:
    for g in (f, nl.jit(f)):
        with pytest.raises(errors.GradError, match="closes over a value that is being"):
            nl.grad(g, 1)(1.0, 2.0)


def test_a_value_that_only_a_rule_uses_is_a_constant() -> None:
    def g(x: Any, c: Any) -> Any:
        @nl.custom_vjp
        def f(x: Any) -> Any:
            return x * 1.0

        f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * c,))
        return f(x) * c

    assert [float(d) for d in nl.grad(g, (0, 1))(3.0, 5.0)] == [25.0, 3.0]
    assert [float(d) for d in nl.jit(nl.grad(nl.jit(g), (0, 1)))(3.0, 5.0)] == [25.0, 3.0]


def test_rules_may_use_concrete_arrays_that_the_function_does_not() -> None:
    table = np.arange(3.0)

    @nl.custom_vjp
    def f(x: Any) -> Any:
        return x * 1.0

    f.defvjp(lambda x: (f(x), table + 1), lambda res, ct: (ct * table * res,))
    want = numpy.arange(3.0) * numpy.arange(1.0, 4.0)
    for g in (f, nl.jit(f), lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0]):
        close(nl.grad(lambda x, g=g: g(x).sum())(np.ones(3)), want)
        close(nl.jacfwd(g)(np.ones(3)), numpy.diag(want))


# ---- mistakes ------------------------------------------------------------------------------------


def test_mistakes_are_explained() -> None:
    f = nl.custom_vjp(lambda x, y: x)
    with pytest.raises(errors.ArgumentError, match="no rule was defined"):
        f(1.0, 2.0)
    f.defvjp(lambda x, y: (x, None), lambda _, ct: (ct,))
    with pytest.raises(errors.ArgumentError, match="one cotangent an argument"):
        nl.grad(f)(1.0, 2.0)
    f.defvjp(lambda x, y: (x, None), lambda _, ct: (np.ones(2), None))
    with pytest.raises(errors.ArgumentError, match="shape and dtype of its argument"):
        nl.grad(f)(1.0, 2.0)
    f.defvjp(lambda x, y: x, lambda _, ct: (ct, None))
    with pytest.raises(errors.ArgumentError, match="pair"):
        nl.grad(f)(1.0, 2.0)
    g = nl.custom_jvp(lambda x: x)
    g.defjvp(lambda p, t: (p[0], (t[0],)))
    with pytest.raises(errors.ArgumentError, match="one structure"):
        nl.grad(g)(1.0)
    g.defjvp(lambda p, t: (p[0], np.ones(2)))
    with pytest.raises(errors.ArgumentError, match="shape and dtype of its result"):
        nl.grad(g)(1.0)
    with pytest.raises(errors.ArgumentError, match="not parameters"):
        nl.custom_jvp(lambda x: x, nondiff_argnames=("z",))
    with pytest.raises(errors.ArgumentError, match="expected a function"):
        nl.custom_jvp(3)


@pytest.mark.parametrize("wrap", [nl.jit, nl.checkpoint])
def test_rules_that_return_another_result_are_refused(wrap):
    pairs = nl.custom_vjp(lambda x: x)
    pairs.defvjp(lambda x: ((x, x), None), lambda _, ct: (ct[0],))
    wide = nl.custom_vjp(lambda x: x)
    wide.defvjp(lambda x: (np.stack([x, x]), None), lambda _, ct: (ct[0],))
    forward = nl.custom_jvp(lambda x: x)
    forward.defjvp(lambda p, t: ((p[0], p[0]), (t[0], t[0])))
    for f in (pairs, wide, forward):
        with pytest.raises(errors.ArgumentError, match="must return the result of the function"):
            nl.grad(wrap(lambda x: f(x) * 1))(1.0)  # noqa: B023


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("options", [{}, {"nondiff_argnums": (2,)}, {"nondiff_argnames": ("k",)}])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_every_combination_of_options(kind, options, symbolic):
    """A rule with ten times the derivative, through every transformation."""

    def function(x, y, k):
        return {"a": x * y * k, "b": (x,)}

    def number(d):
        return 0.0 if type(d).__name__ == "SymbolicZero" else d

    if kind == "jvp":
        f = nl.custom_jvp(function, **options)

        def rule(*args):
            *fixed, primals, tangents = args
            k = fixed[0] if fixed else primals[2]
            (x, y), (dx, dy) = primals[:2], map(number, tangents[:2])
            slope = (dx * y + dy * x) * k * 10.0
            return function(x, y, k), {"a": slope, "b": (dx + 0 * x,)}

        f.defjvp(rule, symbolic_zeros=symbolic)
    else:
        f = nl.custom_vjp(function, **options)

        def forward(*args):
            args = [getattr(v, "value", v) if symbolic else v for v in args]
            return function(*args), tuple(args)

        def backward(*args):
            *fixed, (x, y, k), ct = args
            c = number(ct["a"]) * k * 10.0
            found = (c * y + 0 * x, c * x + 0 * y)
            return found if fixed else (*found, None)

        f.defvjp(forward, backward, symbolic_zeros=symbolic)

    def loss(x, y):
        return f(x, y, 3.0)["a"]

    for wrap in (lambda g: g, nl.jit, nl.checkpoint):
        numpy.testing.assert_allclose(nl.grad(wrap(loss), (0, 1))(2.0, 5.0), [150, 60])
        numpy.testing.assert_allclose(wrap(nl.grad(loss))(2.0, 5.0), 150)
    xs = numpy.asarray([1.0, 2.0], "float32")
    numpy.testing.assert_allclose(
        nl.jit(nl.vmap(nl.grad(loss, (0, 1))))(xs, xs), [[30, 60], [30, 60]]
    )
    scanned = nl.grad(lambda x: nl.lax.scan(lambda c, y: (loss(c, y), None), x, xs)[0])
    assert scanned(1.0) == 1800
    assert nl.grad(lambda x: loss(x, x))(2.0) == 120
