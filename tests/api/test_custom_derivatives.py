"""custom_gradient, closure_convert, linear_call, linear_transpose, custom_vmap, stop_gradient."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.custom_batching import custom_vmap, sequential_vmap
from numlift.custom_derivatives import custom_transpose, linear_call


def close(a: Any, b: Any, rtol: float = 1e-5) -> None:
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=rtol, atol=1e-6)


XS = numpy.array([0.0, 1.0, 2.0], "float32")


def test_custom_gradient_in_every_mode() -> None:
    f = nl.custom_gradient(lambda x: (np.sin(x), lambda ct: ct * np.cos(x) * x))
    close(f(1.0), numpy.sin(1.0))
    want = XS * numpy.cos(XS)
    close(nl.grad(f)(1.0), want[1])
    close(nl.jit(nl.grad(nl.jit(f)))(1.0), want[1])
    close(nl.vmap(nl.grad(f))(XS), want)
    close(nl.grad(lambda x: nl.vmap(f)(x).sum())(XS), want)
    close(nl.jacfwd(f)(1.0), want[1])
    close(nl.grad(nl.grad(f))(1.0), numpy.cos(1.0) - numpy.sin(1.0))
    two = nl.custom_gradient(lambda x, y: (x * y, lambda ct: (ct * 5, y)))
    close(nl.grad(two, (0, 1))(3.0, 4.0), (5, 4))
    with pytest.raises(errors.ArgumentError, match="pair"):
        nl.custom_gradient(lambda x: x)(1.0)
    with pytest.raises(errors.ArgumentError, match="custom_gradient: expected a function"):
        nl.custom_gradient(3)


def test_closure_convert_hoists_what_may_be_differentiated() -> None:
    def f(x: Any, n: Any, y: Any) -> Any:
        g, consts = nl.closure_convert(lambda z: z * x + n + XS.sum(), y)
        assert len(consts) == 1
        return g(y, *consts)

    close(nl.grad(f)(1.0, 2, 3.0), 3)
    close(nl.jit(nl.grad(f))(1.0, 2, 3.0), 3)
    g, consts = nl.closure_convert(lambda z: z * 2, 1.0)
    assert consts == []
    close(g(4.0), 8)
    with pytest.raises(errors.ArgumentError, match="expected 1 arguments"):
        g(1.0, 2.0)


def scaled(r: Any, x: Any) -> Any:
    return linear_call(lambda r, x: x * r, lambda r, ct: ct * r * 7, r, x)


def test_linear_call() -> None:
    close(nl.jvp(lambda x: scaled(2.0, x), (1.0,), (1.0,))[1], 2)
    close(nl.grad(scaled, 1)(2.0, 1.0), 14)
    close(nl.jit(nl.grad(nl.jit(scaled), 1))(2.0, 1.0), 14)
    close(nl.grad(scaled)(2.0, 3.0), 3)  # with respect to residuals: the derivative of the function
    close(nl.vmap(scaled)(XS, XS), XS**2)
    close(nl.vmap(nl.grad(scaled, 1))(XS, XS), 7 * XS)
    close(nl.vmap(nl.grad(scaled, 1), (None, 0))(2.0, XS), [14] * 3)
    close(nl.grad(lambda x: nl.vmap(scaled, (None, 0))(2.0, x).sum())(XS), [14] * 3)
    twice = nl.linear_transpose(
        lambda ct: nl.linear_transpose(lambda x: scaled(2.0, x), 1.0)(ct)[0], 1.0
    )
    close(twice(1.0)[0], 2)
    with pytest.raises(errors.ArgumentError, match="like the linear arguments"):
        linear_call(lambda r, x: x * r, lambda r, ct: (ct,), 1.0, 1.0)


def test_custom_transpose() -> None:
    f = custom_transpose(lambda r, x: x / r)
    with pytest.raises(errors.ArgumentError, match="no transpose was defined"):
        f(2.0, 1.0)
    f.def_transpose(lambda r, ct: ct * 100)
    close(f(2.0, 1.0), 0.5)
    close(nl.grad(lambda x: f(2.0, x))(1.0), 100)


def test_linear_transpose() -> None:
    matrix = numpy.arange(6.0, dtype="float32").reshape(2, 3)
    f = lambda x, y: {"a": matrix @ x, "b": 2 * y + x.sum()}
    transposed = nl.linear_transpose(f, np.ones(3), nl.ShapeDtypeStruct((), "float32"))
    ct = {"a": np.array([1.0, -1.0]), "b": 3.0}
    for t in (transposed, nl.jit(transposed)):
        x, y = t(ct)
        close(x, matrix.T @ [1, -1] + 3)
        close(y, 6)
    close(nl.vmap(nl.linear_transpose(lambda x: 2 * x, 1.0))(XS)[0], 2 * XS)
    assert int(nl.linear_transpose(lambda x: 3 * x, 1)(2)[0]) == 6
    scanned = lambda x: lax.scan(lambda c, a: (c * a, c), x, XS + 1)[0]
    close(nl.linear_transpose(scanned, 1.0)(1.0)[0], 6)
    unused = nl.linear_transpose(lambda x, y: x, 1.0, np.ones(2))
    close(unused(1.0)[1], [0, 0])


def test_linear_transpose_explains_mistakes() -> None:
    for f in (lambda x: x * x, np.sin):
        with pytest.raises(errors.GradError, match="is not linear"):
            nl.linear_transpose(f, 1.0)(1.0)
    with pytest.raises(errors.ArgumentError, match="shape and dtype of the result"):
        nl.linear_transpose(lambda x: x, 1.0)(XS)
    with pytest.raises(errors.ArgumentError, match="structure of the result"):
        nl.linear_transpose(lambda x: x, 1.0)((1.0,))


# ---- custom_vmap ---------------------------------------------------------------------------------

seen: list[Any] = []


@custom_vmap
def product(x: Any, y: Any) -> Any:
    return x["a"] * y, x["a"]


@product.def_vmap
def _(size: int, in_batched: Any, x: Any, y: Any) -> Any:
    seen.append((size, in_batched))
    return (x["a"] * y * 10, x["a"]), (True, in_batched[0]["a"])


def test_custom_vmap_rule_sees_what_is_batched() -> None:
    close(product({"a": 2.0}, 3.0)[0], 6)
    for wrap in (lambda f: f, nl.jit):
        outs = wrap(nl.vmap(wrap(product), (0, None)))({"a": XS}, 2.0)
        close(outs, (20 * XS, XS))
        assert seen[-1] == (3, [{"a": True}, False])
    outs = nl.vmap(product, (None, 0), out_axes=(0, None))({"a": 2.0}, XS)
    close(outs[0], 20 * XS)
    close(outs[1], 2)
    close(nl.vmap(product, ({"a": 1}, None))({"a": np.ones((2, 3))}, 1.0)[0], 10 * np.ones((3, 2)))
    nested = nl.vmap(nl.vmap(product, (None, 0)), (0, None))({"a": XS}, XS)[0]
    assert nested.shape == (3, 3)


def test_derivatives_of_custom_vmap() -> None:
    f = lambda x: product({"a": x}, 2.0)[0]
    batched = nl.vmap(f)
    close(nl.grad(f)(3.0), 2)
    close(nl.jvp(batched, (XS,), (np.ones(3),))[1], [20] * 3)
    close(nl.vmap(lambda x: nl.jvp(f, (x,), (np.ones_like(x),))[1])(XS), [20] * 3)
    close(nl.grad(lambda x: batched(x).sum())(XS), [20] * 3)
    close(nl.jit(nl.grad(nl.jit(lambda x: batched(x).sum())))(XS), [20] * 3)
    close(nl.vmap(nl.grad(f))(XS), [2] * 3)  # the gradient inside is that of the function


def test_custom_vmap_mistakes() -> None:
    f = custom_vmap(lambda x: x)
    with pytest.raises(errors.ArgumentError, match="no rule was defined"):
        f(1.0)
    f.def_vmap(lambda size, b, x: x)
    with pytest.raises(errors.ArgumentError, match="pair"):
        nl.vmap(f)(XS)
    f.def_vmap(lambda size, b, x: (x[:2], True))
    with pytest.raises(errors.VmapError, match="leading axis of size 3"):
        nl.vmap(f)(XS)
    f.def_vmap(lambda size, b, x: (x, {"a": True}))
    with pytest.raises(errors.ArgumentError, match="out_batched"):
        nl.vmap(f)(XS)


def test_sequential_vmap() -> None:
    f = sequential_vmap(lambda x, s: (x * s, np.sin(x)))
    close(nl.vmap(f, (0, None))(XS, 2.0)[0], 2 * XS)
    close(nl.jit(nl.vmap(f))(XS, XS)[0], XS**2)
    close(nl.vmap(nl.grad(lambda x: f(x, 2.0)[1]))(XS), numpy.cos(XS))
    close(nl.grad(lambda x: nl.vmap(f, (0, None))(x, 2.0)[1].sum())(XS), numpy.cos(XS))


# ---- stop_gradient -------------------------------------------------------------------------------


def test_stop_gradient_in_every_mode() -> None:
    sg = lax.stop_gradient
    f = lambda x: sg(x) * x
    close(nl.grad(f)(3.0), 3)
    close(nl.jvp(f, (3.0,), (1.0,))[1], 3)
    close(nl.linearize(f, 3.0)[1](1.0), 3)
    close(nl.vjp(f, 3.0)[1](1.0)[0], 3)
    close(nl.jacrev(f)(3.0), 3)
    close(nl.hessian(f)(3.0), 0)
    close(nl.jit(nl.grad(nl.jit(f)))(3.0), 3)
    close(nl.vmap(nl.grad(f))(XS), XS)
    close(nl.grad(lambda x: nl.vmap(f)(x).sum())(XS), XS)
    close(nl.grad(nl.checkpoint(f))(3.0), 3)
    close(nl.grad(lambda x: lax.cond(x > 0, f, f, x))(3.0), 3)
    scanned = lambda x: lax.scan(lambda c, a: (sg(c) * a * x, None), x, XS[1:])[0]
    close(nl.grad(scanned)(2.0), 8)
    loop = lambda x: lax.while_loop(lambda v: v < 10, lambda v: sg(v) * x, x, max_steps=9)
    close(nl.grad(loop)(2.0), 8)
    assert nl.lax.stop_gradient({"n": 3, "x": 1.0})["n"] == 3
