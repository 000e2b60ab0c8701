"""Lifted code may write into arrays as NumPy code does, also through views."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import numlift as nl
from numlift import errors

X = np.array([0.5, 1.5, 2.0, -1.0])
M = np.arange(12.0).reshape(3, 4) / 7
TABLE = np.arange(4.0)


def recurrence(x):
    out = np.zeros(6)
    out[0] = x[0]
    for i in range(1, 6):
        out[i] = out[i - 1] * x[1] + np.sin(x[2])
    return out


def slices(x):
    a = np.zeros((4, 4))
    a[1:3, ::2] = x[:2, None]
    a[:, 1] += x
    a[-1] *= 2
    return a


def views(x):
    a = np.zeros(6)
    left, right = a[:3], a[3:]
    left[0] = x[0]
    right[:] = x[1]
    a[2] = x[2]
    grid = a.reshape(2, 3)
    grid[1, 1] = 7 * x[3]
    grid.T[0] += 1
    a[::-1][0] = x[0] * x[1]
    return a, left, right, grid, grid.T


def transposed_views(x):
    a = np.ones((2, 3, 2))
    b = np.moveaxis(a, 0, -1)
    b[0, 1] = x[:2]
    c = np.swapaxes(b, 0, 1)[1]
    c -= x[0]
    np.flip(a)[0, 0, 0] = x[1]
    return a, b, c


def masks(x):
    a = x.copy()
    a[a > 1] = 0
    a[np.array([0, 3])] += 10
    a[[1]] = x[1] ** 2
    b = np.where(a > 0, a, -a)
    b[b == 0] -= 1
    large = b > 3
    b[large] = np.sqrt(b[large]) * 2 + x[0]
    b[~large] **= 2
    return a, b


def conversions(x):
    return float(len(x)), np.full((2,), x[1]), np.full_like(x, x[2])


def functions_in_place(x):
    a, b = np.zeros((3, 3)), np.empty(4)
    np.fill_diagonal(a, x[:3])
    np.copyto(b, x)
    np.copyto(b, x * 2, where=x > 1)
    np.putmask(b, b > 3, x[:2])
    np.add.at(b, [0, 0, 1], x[0])
    np.put(b, [3], x[3])
    c = np.empty_like(x)
    np.add(x, 1, out=c)
    np.multiply(c, c, out=c)
    d = np.zeros(2)
    np.sum(a[:2], axis=1, out=d)
    e = np.stack([x, -x])
    e.sort(axis=1)
    e[0].fill(x[1])
    np.put_along_axis(e, np.array([[0], [1]]), x[0], axis=1)
    return a, b, c, d, e


def out_with_where(x):
    a = np.full(4, 5.0)
    np.sqrt(x, out=a, where=x > 0)
    return a


def dtypes(x):
    a = np.zeros(4, dtype=np.float32)
    a[:] = x
    n = np.zeros(4, dtype=int)
    n[:] = x * 3
    n += 1
    b = np.zeros(4, dtype=bool)
    b[1:] = x[1:] > 0
    return a, n, b, a * 2, n / 2


def known_values_stay_python(x):
    count = np.zeros(3, dtype=int)
    count[1] += 2
    total = 0.0
    for i in range(int(count[1])):
        total = total + x[i]
    if count.sum() == 2:
        total = total * 2
    return np.ones(int(count[1])) * total


def grows(x):
    parts = []
    for i in range(3):
        row = np.zeros(2)
        row[i % 2] = x[i]
        parts.append(row)
    return np.array(parts), np.concatenate(parts), np.vstack(parts).T


def classes(x):
    assert isinstance(x, np.ndarray)
    a = np.asarray(x)
    assert a is x
    return np.atleast_2d(a) + TABLE, len(a), a.shape, [row * 2 for row in np.outer(a, a)]


def gauss(x):
    a = np.eye(3) * 3 + np.outer(x[:3], x[:3])
    b = x[:3].copy()
    for i in range(3):
        for j in range(i + 1, 3):
            factor = a[j, i] / a[i, i]
            a[j] -= factor * a[i]
            b[j] -= factor * b[i]
    for i in range(2, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return b


def lists_and_operators(x):
    a = np.zeros(4)
    a[1] = x[1]
    return (
        a + [1, 2, 3, 4],
        [1, 2, 3, 4] - a,
        2 ** (a / 4),
        a @ x,
        x @ np.outer(a, a),
        -a,
        abs(a),
        a == x,
        a < x,
        TABLE * a,
        a // 0.3,
        divmod(a, 0.7),
        a[1] * x,
    )


def split_and_stack(x):
    a = np.zeros(4)
    a[0] = x[0]
    first, second = np.split(a, 2)
    return np.hstack([second, first]), np.squeeze(a[None]), np.expand_dims(a, 0), a.ravel()


def copies(x):
    a = np.zeros(3)
    b, c = a.copy(), np.array(a)
    a[0] = x[0]
    b[1] = x[1]
    d = a[[0, 1]]
    d[0] = 9
    e = a.flatten()
    e[:] = 0
    return a, b, c, d, e


PROGRAMS = [
    recurrence, slices, views, transposed_views, masks, conversions, functions_in_place,
    out_with_where,
    dtypes, known_values_stay_python, grows, classes, gauss, lists_and_operators,
    split_and_stack, copies,
]  # fmt: skip


def check_equal(found, expected) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            check_equal(a, b)
        return
    if isinstance(expected, np.ndarray):
        assert type(found) is np.ndarray and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_give_what_numpy_gives(program) -> None:
    check_equal(nl.lift(program)(X), program(X))


@pytest.mark.parametrize("program", [recurrence, slices, gauss, views, transposed_views])
def test_programs_that_write_are_differentiable(program) -> None:
    def loss(x):
        found = program(x)
        return sum(np.sum(np.sin(y)) for y in (found if isinstance(found, tuple) else [found]))

    gradient = nl.lift(nl.grad(loss))(X)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-6
        slope = (loss(X + step) - loss(X - step)) / 2e-6
        np.testing.assert_allclose(gradient[i], slope, rtol=1e-6, atol=1e-8)


def test_programs_that_write_are_batched() -> None:
    batch = np.stack([X, X + 1])
    check_equal(nl.lift(nl.vmap(gauss))(batch), np.stack([gauss(X), gauss(X + 1)]))


def test_functions_inside_transformations_inside() -> None:
    def outer(x):
        a = np.zeros(4)
        a[:2] = nl.grad(lambda y: np.sum(recurrence(y)))(x)[:2]
        a[2] = nl.vmap(lambda v: v * 2)(x)[1] + nl.jit(lambda v: np.sum(v))(x)
        a[3] = nl.lax.scan(lambda c, v: (c + v, None), 0.0, x)[0]
        return a

    found = nl.lift(outer)(X)
    np.testing.assert_allclose(found[2:], [X[1] * 2 + X.sum(), X.sum()])
    assert found[0] != 0


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x.sort(),
        lambda x: x[1:].fill(0),
        lambda x: np.fill_diagonal(x.reshape(2, 2), 0),
        lambda x: np.add(x, 1, out=x),
        lambda x: np.asarray(x).__iadd__(1),
        lambda x: np.add.at(x, 0, 1.0),
    ],
)
def test_arguments_belong_to_the_caller(program) -> None:
    before = X.copy()
    with pytest.raises(errors.ValueArgumentError, match=r"cannot write into an argument"):
        nl.lift(program)(X)
    np.testing.assert_array_equal(X, before)


def test_dtypes_that_do_not_fit_are_errors_as_in_numpy() -> None:
    def adds_floats_to_integers(x):
        n = np.zeros(4, dtype=int)
        n += x
        return n

    def writes_complex(x):
        a = np.zeros(4)
        a[:] = x * 1j
        return a

    def wrong_shape(x):
        a = np.zeros(3)
        a[:] = x
        return a

    for program, error in [
        (adds_floats_to_integers, TypeError),
        (writes_complex, TypeError),
        (wrong_shape, ValueError),
    ]:
        with pytest.raises(error) as caught:
            nl.lift(program)(X)
        assert isinstance(caught.value, errors.NumliftError)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[x > 1],
        lambda x: np.sort(x[x > 1]),
        lambda x: x[x > 1] + x,
        lambda x: list(x[x > 0]),
        lambda x: x[x > 0][1:],
        lambda x: x[x > 0].reshape(2, -1),
        lambda x: np.concatenate([x[x > 0], x[x < 0]]),
        lambda x: np.maximum.accumulate(x[x > 1]),
        lambda x: list(np.where(x > 0)[0]),
    ],
)
def test_the_number_of_elements_of_a_traced_mask_is_no_size(program) -> None:
    with pytest.raises(errors.NonConcreteBooleanIndexError, match=r"np\.where"):
        nl.lift(program)(X)


# ---- random programs of views and writes -----------------------------------------------------

indices = st.sampled_from([
    (slice(1, None),), (slice(None, None, -1),), (slice(None), slice(0, 2)), (0,),
    (-1, slice(1, 3)), (..., 1), (slice(0, 2), None, 0), (slice(None, None, 2), slice(1, None, 2)),
])  # fmt: skip
makers = st.sampled_from(
    ["T", "ravel", "reshape", "flip", "swap", "squeeze", "expand", "real", "copy", "diagonal"]
)
steps = st.one_of(
    st.tuples(st.just("index"), st.integers(0, 20), indices),
    st.tuples(st.just("make"), st.integers(0, 20), makers),
    st.tuples(st.just("write"), st.integers(0, 20), st.sampled_from([0, -1]), st.booleans()),
    st.tuples(st.just("add"), st.integers(0, 20), st.booleans()),
    st.tuples(st.just("mask"), st.integers(0, 20)),
)


def make(a, how):
    if how == "T":
        return a.T
    if how == "reshape":
        return a.reshape(-1, 1)
    if how == "swap":
        return np.swapaxes(a, 0, -1)
    if how in ("squeeze", "expand"):
        return np.squeeze(a) if how == "squeeze" else np.expand_dims(a, 0)
    if how == "diagonal":
        return np.diagonal(a) if a.ndim > 1 else a
    return (
        {"flip": np.flip, "ravel": np.ravel, "real": np.real}[how](a) if how != "copy" else a.copy()
    )


def interpret(program, x):
    """Run a program of views and writes; a step that NumPy refuses is left out."""
    arrays = [np.arange(12.0).reshape(3, 4)]
    kept = []
    for number, (kind, which, *rest) in enumerate(program):
        a = arrays[which % len(arrays)]
        try:
            if kind == "index":
                b = a[rest[0]]
                if b.ndim:
                    arrays.append(b)
            elif kind == "make":
                arrays.append(make(a, rest[0]))
            elif kind == "write":
                a[rest[0]] = x[0] + number if rest[1] else float(number)
            elif kind == "add":
                a += x[1] * number if rest[0] else 1.0
            else:
                a[a > 5] = x[2]
        except (IndexError, ValueError) as error:
            if isinstance(error, errors.ValueArgumentError):
                raise  # a view that cannot be followed
            continue
        kept.append(number)
    return kept, [a * 1 for a in arrays]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(steps, min_size=2, max_size=8))
def test_views_and_writes_are_those_of_numpy_or_an_error(program) -> None:
    expected = interpret(program, X)
    try:
        found = nl.lift(lambda x: interpret(program, x))(X)
    except errors.ValueArgumentError:
        event("a view that cannot be followed")
        return
    assert list(map(int, found[0])) == expected[0]
    check_equal(found[1], expected[1])
