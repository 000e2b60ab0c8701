"""Rules of custom derivatives that do not fit their function are errors, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import custom_batching, errors

X = onp.ones(3, onp.float32)


def twice(x: Any) -> Any:
    return x * 2.0


def by_vjp(fwd: Any, bwd: Any = lambda r, ct: (ct,), fun: Any = twice) -> Any:
    f = nl.custom_vjp(fun)
    f.defvjp(fwd, bwd)
    return nl.grad(lambda x: np.sum(nl.tree.leaves(f(x))[0]))


def by_jvp(rule: Any, fun: Any = twice) -> Any:
    f = nl.custom_jvp(fun)
    f.defjvp(rule)
    return lambda x: nl.jvp(f, (x,), (x,))[1]


def by_jvp_reverse(rule: Any) -> Any:
    f = nl.custom_jvp(twice)
    f.defjvp(rule)
    return nl.grad(lambda x: np.sum(nl.tree.leaves(f(x))[0]))


RULES = {
    "jvp result shape": (lambda p, d: (p[0][:2], d[0][:2]), "with its shapes and dtypes"),
    "jvp result dtype": (
        lambda p, d: (p[0].astype("float16"), d[0].astype("float16")),
        "with its shapes and dtypes",
    ),
    "jvp result tree": (lambda p, d: ((p[0],), (d[0],)), "in the same structure"),
    "jvp tangent shape": (lambda p, d: (p[0], d[0][:2]), "tangent must have the shape"),
    "jvp tangent tree": (lambda p, d: (p[0], (d[0],)), "one structure"),
    "jvp tangent text": (lambda p, d: (p[0], "a"), "must be an array"),
    "jvp no pair": (lambda p, d: p[0], "must return a pair"),
    "jvp arity": (lambda p: p, "is called with 2 arguments"),
}
CASES = {
    "fwd shape": (by_vjp(lambda x: (x[:2], x)), "with its shapes and dtypes"),
    "fwd dtype": (by_vjp(lambda x: (x.astype("float16"), x)), "with its shapes and dtypes"),
    "fwd tree": (by_vjp(lambda x: ((x, x), x)), "in the same structure"),
    "fwd arity": (by_vjp(lambda x, y: (x, y)), "is called with 1 arguments"),
    "bwd arity": (by_vjp(lambda x: (x, x), lambda ct: (ct,)), "is called with 2 arguments"),
    "bwd shape": (by_vjp(lambda x: (x, x), lambda r, ct: (ct[:2],)), "shape and dtype of its arg"),
    "bwd dtype": (by_vjp(lambda x: (x, x), lambda r, ct: (onp.ones(3, int),)), "shape and dtype"),
    "bwd number": (by_vjp(lambda x: (x, x), lambda r, ct: (ct, ct)), "one cotangent an argument"),
    "bwd tree": (by_vjp(lambda x: (x, x), lambda r, ct: ((ct,),)), "not a prefix"),
    "two arguments": (lambda x: nl.custom_jvp(twice)(x, x), "too many positional"),
    **{k: (by_jvp(rule), text) for k, (rule, text) in RULES.items()},
    **{f"{k}, reverse": (by_jvp_reverse(rule), text) for k, (rule, text) in RULES.items()},
}
MODES = {
    "eager": lambda f: f(X),
    "jit": lambda f: nl.jit(f)(X),
    "vmap": lambda f: nl.vmap(f)(onp.stack([X, X])),
    "scan": lambda f: nl.lax.scan(lambda c, _: (c, f(X)), 0.0, None, length=2),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_misfits_are_errors(name: str, mode: str) -> None:
    function, text = CASES[name]
    with pytest.raises(errors.ArgumentError, match=text) as info:
        MODES[mode](function)
    assert "Try: " in str(info.value)


def test_the_function_may_change_what_it_returns() -> None:
    size = 2

    def fun(x: Any) -> Any:
        return x[:size]

    f = nl.custom_jvp(fun)
    f.defjvp(lambda p, d: (fun(*p), fun(*d)))
    for size in (2, 3, 1):
        assert nl.jvp(f, (X,), (X,))[1].shape == (size,)


def test_functions_that_need_values_are_not_checked() -> None:
    @nl.custom_jvp
    def f(x: Any) -> Any:
        return x if float(x) > 0 else -x

    f.defjvp(lambda p, d: (p[0], 3.0 * d[0]))
    assert float(nl.jvp(f, (1.0,), (1.0,))[1]) == 3.0


def test_type_errors_inside_rules_stay() -> None:
    def rule(p: Any, d: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="^mine$"):
        by_jvp(rule)(X)


def _closing(kind: str) -> Any:
    def f(x: Any) -> Any:
        y = np.sin(x)
        g: Any
        if kind == "jvp":
            g = nl.custom_jvp(lambda z: z * y)
            g.defjvp(lambda p, d: (g(*p), d[0] * 2.0))
        elif kind == "vjp":
            g = nl.custom_vjp(lambda z: z * y)
            g.defvjp(lambda z: (g(z), None), lambda r, ct: (ct * 2.0,))
        else:
            g = custom_batching.custom_vmap(lambda z: z * y)
            g.def_vmap(lambda n, b, z: (z * 2.0, True))
        return g(x)

    return f


@pytest.mark.parametrize("kind", ["jvp", "vjp", "vmap"])
def test_rules_that_close_over_traced_values_are_no_leaks(kind: str) -> None:
    f = _closing(kind)
    with nl.checking_leaks():
        assert float(nl.jit(f)(1.0)) == pytest.approx(0.84147, rel=1e-5)
        nl.lax.scan(lambda c, x: (f(c), x), 1.0, X)
        kept = []
        with pytest.raises(errors.UnexpectedTracerError):
            nl.jit(lambda x: (kept.append(x * 2), f(x))[1])(1.0)
