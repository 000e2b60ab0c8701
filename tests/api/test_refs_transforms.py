"""Refs under vmap, derivatives, checkpoint and functions with rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax


def value(ref: Any) -> numpy.ndarray:
    return numpy.asarray(ref[...])


def put(ref: Any, index: Any, x: Any) -> None:
    ref[index] = x


def plain(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


JIT = pytest.mark.parametrize("jit", [plain, nl.jit])

# ---- vmap --------------------------------------------------------------------------------------


@JIT
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap_over_refs(jit: Any, axis: int) -> None:
    ref = nl.new_ref(np.arange(6.0).reshape((2, 3) if axis == 0 else (3, 2)))
    before = value(ref)

    def f(row: Any, x: Any) -> Any:
        row[0] = x
        row[1:] *= x
        return row[...].sum()

    sums = jit(nl.vmap(f, in_axes=(axis, 0)))(ref, np.array([2.0, 3.0]))
    wanted = before if axis == 0 else before.T
    wanted = numpy.stack([numpy.concatenate([[x], r[1:] * x]) for x, r in zip([2, 3], wanted)])
    numpy.testing.assert_array_equal(sums, wanted.sum(1))
    numpy.testing.assert_array_equal(value(ref), wanted if axis == 0 else wanted.T)


@JIT
@pytest.mark.parametrize("inner", [plain, nl.jit, nl.checkpoint])
def test_vmap_of_other_transformations(jit: Any, inner: Any) -> None:
    ref = nl.new_ref(np.zeros((2, 3)))

    def f(row: Any, x: Any, n: Any) -> Any:
        lax.scan(lambda c, i: (c, row.addupdate(x, i)), None, np.arange(3))
        lax.cond(x > 1, lambda: put(row, 0, -1.0), lambda: put(row, 1, -2.0))
        lax.while_loop(lambda i: i < n, lambda i: row.addupdate(10.0, 2) or i + 1, 0)
        return row[0]

    ns = np.array([1, 3])
    found = jit(nl.vmap(inner(f)))(ref, np.array([1.0, 2.0]), ns)
    numpy.testing.assert_array_equal(found, [1, -1])
    numpy.testing.assert_array_equal(value(ref), [[1, -2, 11], [-1, 2, 32]])


@JIT
def test_vmap_of_vmap_and_made_inside(jit: Any) -> None:
    ref = nl.new_ref(np.zeros((2, 3)))

    def f(ref: Any, x: Any) -> Any:
        made = nl.new_ref(np.zeros(2))
        made[1] = x
        ref[...] = made[1] * 2
        return nl.freeze(made)

    xs = np.arange(6.0).reshape(2, 3)
    found = jit(nl.vmap(nl.vmap(f)))(ref, xs)
    numpy.testing.assert_array_equal(found[..., 1], xs)
    numpy.testing.assert_array_equal(value(ref), 2 * xs)


@JIT
def test_vmap_and_refs_without_a_batch(jit: Any) -> None:
    closed, whole = nl.new_ref(np.zeros(2)), nl.new_ref(np.zeros(2))

    def f(ref: Any, x: Any) -> Any:
        ref[0] = 3.0
        closed[1] += 1.0
        return x + ref[0] + closed[1]

    numpy.testing.assert_array_equal(
        jit(nl.vmap(f, in_axes=(None, 0)))(whole, np.arange(2.0)), [4, 5]
    )
    numpy.testing.assert_array_equal(value(closed), [0, 1])
    numpy.testing.assert_array_equal(value(whole), [3, 0])
    for g, args in (
        (nl.vmap(lambda x: put(closed, 0, x)), (np.ones(2),)),
        (nl.vmap(lambda i: put(closed, i, 1.0)), (np.arange(2),)),
        (nl.vmap(lambda r, x: put(r, 0, x), in_axes=(None, 0)), (whole, np.ones(2))),
        (nl.vmap(nl.jit(lambda x: put(closed, 0, x))), (np.ones(2),)),
        (
            nl.vmap(lambda x: lax.fori_loop(0, 2, lambda i, c: put(closed, i, x), None)),
            (np.ones(2),),
        ),
    ):
        with pytest.raises(errors.RefError, match=r"batched value(.|\n)*in_axes=0"):
            jit(g)(*args)
    numpy.testing.assert_array_equal(value(closed), [0, 1])


def test_vmap_refuses_two_names() -> None:
    ref = nl.new_ref(np.zeros((2, 2)))
    with pytest.raises(errors.RefError, match="passed twice"):
        nl.vmap(lambda a, b: a[0] + b[0])(ref, ref)
    with pytest.raises(errors.RefError, match="closed over as well"):
        nl.vmap(lambda a: a[0] + ref[0, 0])(ref)
    ref[0, 0] = 1.0  # it is free again
    with pytest.raises(errors.ArgumentError, match="returned a Ref"):
        nl.vmap(lambda a: a)(ref)


# ---- derivatives -------------------------------------------------------------------------------


def powers(x: Any) -> Any:
    """x ** 4, by way of refs in a loop, a call and a branch."""
    ref = nl.new_ref(x)
    lax.fori_loop(0, 2, lambda i, c: put(ref, ..., ref[...] * x), None)

    @nl.jit
    def call(ref: Any) -> Any:
        ref[...] *= x
        return ref[...] * 0

    zero = call(ref)
    lax.cond(x > 100, lambda: put(ref, ..., 0.0), lambda: None)
    return zero + ref[...]


@JIT
@pytest.mark.parametrize("inner", [plain, nl.jit, nl.checkpoint])
def test_refs_made_inside_are_differentiated(jit: Any, inner: Any) -> None:
    f = inner(powers)
    assert float(jit(f)(2.0)) == 16
    assert float(jit(nl.grad(f))(2.0)) == 32
    assert float(jit(nl.grad(nl.grad(f)))(2.0)) == 48
    y, dy = jit(lambda x: nl.jvp(f, (x,), (1.0,)))(2.0)
    assert (float(y), float(dy)) == (16, 32)
    y, push = nl.linearize(f, 2.0)
    assert (float(y), float(push(2.0))) == (16, 64)
    for jac in (nl.jacfwd, nl.jacrev):
        assert float(jit(jac(f))(2.0)) == 32
    assert float(jit(nl.hessian(f))(2.0)) == 48
    numpy.testing.assert_array_equal(jit(nl.vmap(nl.grad(f)))(np.arange(3.0)), [0, 4, 32])
    total = nl.grad(lambda x: nl.vmap(f)(x).sum())
    numpy.testing.assert_array_equal(jit(total)(np.arange(3.0)), [0, 4, 32])


@JIT
def test_partial_writes_are_differentiated(jit: Any) -> None:
    def f(x: Any) -> Any:
        ref = nl.new_ref(np.zeros(4))
        ref[1:3] = x
        ref[np.array([0, 3])] += x * x
        ref[1] *= ref[0]
        return ref[...]

    def functional(x: Any) -> Any:
        y = np.zeros(4).at[1:3].set(x)
        y = y.at[np.array([0, 3])].add(x * x)
        return y.at[1].multiply(y[0])

    x = np.array([2.0, 3.0])
    for jac in (nl.jacrev, nl.jacfwd):
        numpy.testing.assert_allclose(jit(jac(f))(x), jac(functional)(x))
    nl.test_util.check_grads(f, (x,), 2)


@JIT
def test_refs_from_outside_of_grad(jit: Any) -> None:
    ref, closed = nl.new_ref(np.zeros(2)), nl.new_ref(np.full(2, 3.0))

    def f(x: Any, ref: Any) -> Any:
        ref[0] = lax.stop_gradient(x) * 2
        closed[1] = 7.0
        return x * ref[0] + x * closed[0] + closed[1]

    assert float(jit(nl.grad(f))(5.0, ref)) == 13
    numpy.testing.assert_array_equal(value(ref), [10, 0])
    numpy.testing.assert_array_equal(value(closed), [3, 7])

    def scan(x: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            ref[1] += 1.0
            return c * x, None

        return lax.scan(step, x, None, 3)[0]

    assert float(jit(nl.grad(scan))(1.0)) == 4
    numpy.testing.assert_array_equal(value(ref), [10, 3])


@JIT
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: nl.grad(f),
        lambda f: lambda x: nl.jvp(f, (x,), (x,)),
        lambda f: lambda x: nl.linearize(f, x)[0],
        lambda f: nl.jacfwd(f),
        lambda f: nl.grad(nl.jit(f)),
        lambda f: nl.grad(nl.checkpoint(f)),
        lambda f: nl.grad(lambda x: lax.cond(x > 0, f, f, x)),
        lambda f: nl.grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 3)[0]),
    ],
)
def test_differentiated_values_do_not_leave_through_refs(jit: Any, transform: Any) -> None:
    ref = nl.new_ref(np.ones(2))

    def f(x: Any) -> Any:
        ref[0] = x
        return x * 2

    with pytest.raises(errors.RefError, match="differentiated value was written"):
        jit(transform(f))(3.0)
    numpy.testing.assert_array_equal(value(ref), [1, 1])


@JIT
def test_jvp_of_refs(jit: Any) -> None:
    def f(ref: Any, x: Any) -> Any:
        ref[0] = x * ref[1]
        return ref[...].sum()

    def both(ref: Any, d_ref: Any, x: Any) -> Any:
        return nl.jvp(f, (ref, x), (d_ref, np.ones_like(x)))

    ref, d_ref = nl.new_ref(np.array([1.0, 2.0])), nl.new_ref(np.array([0.0, 10.0]))
    y, dy = jit(both)(ref, d_ref, np.float32(3.0))
    numpy.testing.assert_array_equal(value(ref), [6, 2])
    numpy.testing.assert_array_equal(value(d_ref), [32, 10])
    assert (float(y), float(dy)) == (8, 42)


def test_jvp_wants_refs_for_refs() -> None:
    ref = nl.new_ref(np.ones(2))
    f = lambda ref: ref[0]
    for tangent in (np.ones(2),):
        with pytest.raises(errors.RefError, match="tangent of a ref is a ref"):
            nl.jvp(f, (ref,), (tangent,))
    with pytest.raises(errors.RefError, match="passed twice"):
        nl.jvp(f, (ref,), (ref,))
    counts = nl.new_ref(np.arange(2))
    zeros = numpy.zeros(2, nl.dtypes.float0)
    y, _ = nl.jvp(lambda r: put(r, 0, 5) or r[0], (counts,), (zeros,))
    assert int(y) == 5 == int(counts[0])


@pytest.mark.parametrize(
    "transform", [nl.grad, nl.jacrev, nl.jacfwd, nl.hessian, nl.value_and_grad]
)
def test_gradients_by_refs_say_what_to_do(transform: Any) -> None:
    with pytest.raises(errors.ArgumentError, match=r"is a Ref(.|\n)*ref\[\.\.\.\]"):
        transform(lambda ref: ref[0])(nl.new_ref(np.ones(2)))


# ---- functions with rules of their own ---------------------------------------------------------


@nl.custom_vjp
def looked_at(x: Any, ref: Any) -> Any:
    return x * 1.0


def _fwd(x: Any, ref: Any) -> Any:
    return x * 1.0, {"ref": ref}


def _bwd(residuals: Any, ct: Any) -> Any:
    residuals["ref"][...] += ct
    return ct, None


looked_at.defvjp(_fwd, _bwd)


@JIT
@pytest.mark.parametrize("closed", [False, True])
def test_gradients_are_taken_out_of_a_backward_pass(jit: Any, closed: bool) -> None:
    ref = nl.new_ref(0.0)

    def f(x: Any, ref: Any) -> Any:
        return np.sin(looked_at(x, ref)) * 2

    slope = jit(nl.grad(lambda x: f(x, ref)))(1.0) if closed else jit(nl.grad(f))(1.0, ref)
    assert float(ref[...]) == pytest.approx(2 * numpy.cos(1.0)) == float(slope)
    assert float(jit(looked_at)(5.0, ref)) == 5


@JIT
def test_gradients_are_taken_out_of_loops_calls_and_batches(jit: Any) -> None:
    ref = nl.new_ref(0.0)

    def f(x: Any, ref: Any) -> Any:
        step = lambda c, _: (looked_at(c, ref) * 2.0, None)
        return lax.scan(step, x, None, 3)[0]

    assert float(jit(nl.grad(f))(1.0, ref)) == 8
    assert float(ref[...]) == 2 + 4 + 8
    by_call = jit(nl.grad(lambda x: 3 * nl.jit(lambda y: looked_at(y, ref))(x)))
    assert float(by_call(1.0)) == 3 and float(ref[...]) == 17
    refs = nl.new_ref(np.zeros(2))
    batch = jit(nl.vmap(nl.grad(lambda x, ref: looked_at(x, ref) * x)))
    numpy.testing.assert_array_equal(batch(np.arange(2.0), refs), [0, 2])
    numpy.testing.assert_array_equal(value(refs), [0, 1])


@JIT
def test_gradients_are_taken_out_of_branches_and_checkpoints(jit: Any) -> None:
    a, b = nl.new_ref(0.0), nl.new_ref(0.0)

    def f(x: Any, pred: Any) -> Any:
        once = lambda x: looked_at(x, a) * 2
        return lax.cond(pred, once, lambda x: looked_at(looked_at(x, b) * 3, b), x)

    assert float(jit(nl.grad(f))(1.0, True)) == 2
    assert (float(a[...]), float(b[...])) == (2, 0)
    assert float(jit(nl.grad(f))(1.0, False)) == 3
    assert (float(a[...]), float(b[...])) == (2, 1 + 3)

    def scanned(x: Any) -> Any:
        step = lambda c, pred: (nl.checkpoint(f)(c, pred), None)
        return lax.scan(step, x, np.array([True, False, True]))[0]

    a[...] = b[...] = 0.0
    assert float(jit(nl.grad(scanned))(1.0)) == 12
    assert (float(a[...]), float(b[...])) == (2 + 12, 2 + 6)


@JIT
def test_functions_with_rules_write_refs(jit: Any) -> None:
    ref = nl.new_ref(0.0)

    @nl.custom_vjp
    def f(x: Any, ref: Any) -> Any:
        ref[...] = lax.stop_gradient(x)
        return x * 2

    f.defvjp(lambda x, ref: (f(x, ref), None), lambda _, ct: (ct * 5, None))
    assert float(jit(f)(2.0, ref)) == 4 and float(ref[...]) == 2
    assert float(jit(nl.grad(f))(3.0, ref)) == 5 and float(ref[...]) == 3
    with pytest.raises(errors.GradError, match="before it was differentiated"):
        jit(nl.grad(nl.jit(lambda x: f(x, ref))))(4.0)

    @nl.custom_jvp
    def g(x: Any) -> Any:
        ref[...] = lax.stop_gradient(x)
        return x

    g.defjvp(lambda p, t: (p[0], 7 * t[0]))
    assert float(jit(g)(6.0)) == 6 == float(ref[...])
    assert float(jit(nl.grad(g))(8.0)) == 7


def test_rules_that_refs_do_not_fit() -> None:
    ref = nl.new_ref(0.0)

    @nl.custom_jvp
    def f(x: Any, ref: Any) -> Any:
        return x

    f.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(errors.RefError, match="defvjp"):
        f(1.0, ref)

    @nl.custom_vjp
    def g(x: Any, ref: Any) -> Any:
        return x

    g.defvjp(lambda x, ref: (x, None), lambda _, ct: (ct, ct))
    with pytest.raises(errors.RefError, match="has no cotangent"):
        nl.grad(g)(1.0, ref)


# ---- functions that take no refs ---------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda ref: nl.linear_transpose(lambda x: x * ref[0], 1.0),
        lambda ref: nl.closure_convert(lambda x: x * ref[0], 1.0),
        lambda ref: lax.custom_root(lambda x: x - ref[0], 1.0, lambda f, x: x, lambda g, y: y),
        lambda ref: lax.custom_linear_solve(
            lambda x: put(ref, 0, 1.0) or x, np.ones(2), lambda f, b: b, symmetric=True
        ),
        lambda ref: nl.grad(
            lambda x: lax.while_loop(
                lambda s: s[0] < 3, lambda s: (s[0] + 1, looked_at(s[1], ref)), (0, x), max_steps=5
            )[1]
        )(1.0),
    ],
)
def test_refs_from_outside_are_refused(use: Any) -> None:
    ref = nl.new_ref(np.ones(2))
    with pytest.raises(errors.RefError, match=r"made outside of it(.|\n)*Try: "):
        use(ref)
    numpy.testing.assert_array_equal(value(ref), [1, 1])


def test_refs_are_no_arrays() -> None:
    ref = nl.new_ref(np.ones(2))
    for use in (
        lambda: np.sin(ref),
        lambda: np.asarray(ref),
        lambda: numpy.asarray(ref),
        lambda: nl.device_put(ref),
        lambda: bool(ref),
        lambda: put(ref, ..., ref),
        lambda: nl.pure_callback(lambda x: x, nl.ShapeDtypeStruct((2,), "float32"), ref),
    ):
        with pytest.raises(errors.ArgumentError, match="(?i)ref"):
            use()
    for bad in ([1.0, 2.0], "a", None, ref):
        with pytest.raises(errors.ArgumentError):
            nl.new_ref(bad)
    with pytest.raises(errors.IndexingError, match="out of bounds"):
        ref[2]
    with pytest.raises(errors.IndexingError, match="out of bounds"):
        ref[2] = 1.0
    with pytest.raises(errors.ShapeError, match="do not broadcast"):
        ref[:1] = np.ones(2)


def test_refs_that_have_ended() -> None:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(nl.new_ref(x))
        return x

    nl.jit(keep)(1.0)
    nl.grad(keep)(1.0)
    nl.vmap(keep)(np.ones(2))
    nl.jit(kept.append)(nl.new_ref(1.0))
    nl.vmap(kept.append)(nl.new_ref(np.ones(2)))
    for ref in kept:
        with pytest.raises(errors.RefError, match="had ended"):
            ref[...]
        with pytest.raises(errors.RefError, match="had ended"):
            ref[...] = 1.0
        with pytest.raises(errors.RefError, match="had ended"):
            nl.jit(lambda ref=ref: ref[...])()


def test_frozen_refs() -> None:
    ref = nl.new_ref(np.ones(2))
    held = nl.jit(lambda: ref[0])
    held()
    with pytest.raises(errors.RefError, match="only the function that made a ref"):
        nl.jit(lambda: nl.freeze(ref))()
    with pytest.raises(errors.RefError, match="only the function that made a ref"):
        nl.jit(nl.freeze)(ref)
    assert nl.freeze(ref).shape == (2,)
    for use in (lambda: ref[0], lambda: put(ref, 0, 1.0), lambda: nl.freeze(ref), held):
        with pytest.raises(errors.RefError, match="was frozen"):
            use()


def test_residuals_keep_the_value_of_their_time() -> None:
    ref = nl.new_ref(np.full(3, 2.0))
    x = np.ones(3)
    functions = [
        lambda x: x * ref[...],
        nl.jit(lambda x: x * ref[...]),
        nl.checkpoint(lambda x: x * ref[...]),
        lambda x: lax.scan(lambda c, _: (c * ref[...], None), x, None, 1)[0],
        lambda x: lax.cond(True, lambda: x * ref[...], lambda: x),
        nl.vmap(lambda x: x * ref[0]),
        lambda x: nl.vmap(lambda x, r: x * r[...])(x, ref),
    ]
    pulls = [nl.vjp(f, x)[1] for f in functions]
    pushes = [nl.linearize(f, x)[1] for f in functions]
    ref[...] = 7.0
    ref[0] += 1.0
    for pull, push in zip(pulls, pushes, strict=True):
        numpy.testing.assert_array_equal(pull(x)[0], [2, 2, 2])
        numpy.testing.assert_array_equal(push(x), [2, 2, 2])


def test_no_traced_value_is_kept() -> None:
    ref = nl.new_ref(np.zeros(2))

    def f(ref: Any, x: Any) -> Any:
        ref[0] = lax.stop_gradient(x)
        lax.scan(lambda c, i: (c, put(ref, 1, ref[1] + 1)), None, None, 2)
        return looked_at(x, scalar) * ref[0]

    scalar = nl.new_ref(0.0)
    with nl.checking_leaks():
        nl.jit(f)(ref, 2.0)
        nl.grad(lambda x: f(ref, x))(3.0)
        nl.jit(nl.grad(lambda x: f(ref, x)))(3.0)
        nl.vmap(lambda row, x: put(row, ..., x))(ref, np.ones(2))
        nl.jvp(lambda ref: put(ref, 0, ref[1]), (ref,), (nl.new_ref(np.ones(2)),))
        nl.jit(lambda rows: lax.scan(lambda c, r: (c, put(r, ..., 1.0)), None, rows))(ref)


def test_one_ref_has_one_name() -> None:
    ref = nl.new_ref(np.ones(2))
    for use in (
        lambda: nl.jit(lambda a, b: a[0] + b[0])(ref, ref),
        lambda: nl.jit(lambda a: a[0] + ref[0])(ref),
        lambda: nl.jit(lambda: nl.jit(lambda a: a[0] + ref[0])(ref))(),
        lambda: nl.jit(lambda a: nl.jit(lambda a, b: a[0] + b[0])(a, a))(ref),
    ):
        with pytest.raises(errors.RefError, match="one ref by two names"):
            use()
    with pytest.raises(errors.ArgumentError, match="returned a Ref"):
        nl.jit(lambda a: a)(ref)
