"""Which arrays share memory in lifted code: as in NumPy, or an error, never an old value."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

X = np.array([0.5, 1.5, 2.0, -1.0])
M = np.arange(12.0).reshape(3, 4) / 7


def ravel_of_a_transpose_is_a_copy(m):
    a = m * 1.0
    b, c, d = a.T.ravel(), a.T.reshape(-1), np.reshape(a.T, (2, 6))
    a[0, 0] = m[1, 1]
    b[1], c[2], d[0, 0] = m[0, 1], m[0, 2], m[2, 2]
    return a, b, c, d


def ravel_of_a_fortran_ordered_result(m):
    a = m.T * 2
    b = a.ravel()
    a[0, 0] = 5
    b[1] = m[1, 1]
    return a, b


def ravel_of_strided_rows(m):
    a = m * 2
    b, c = a[:, ::2].reshape(-1), a[::2].reshape(2, 2, 2)
    a[:] = m[0, 1]
    c[0, 0, 0] = m[1, 1]
    return a, b, c


def orders(m):
    a = m * 2
    b, c = a.reshape(2, 6, order="F"), a.ravel(order="K")
    d, e = a.T.ravel("F"), a.flatten("F")
    a[0, 1] = m[2, 2]
    c[2], d[0] = m[1, 1], 7
    return a, b, c, d, e


def conversions_share_memory_unless_the_dtype_changes(m):
    a = m * 9
    whole, single = np.asarray(a, dtype=int), np.asarray(a, dtype=float)
    kept, other = a.astype(float, copy=False), a.astype(np.float32, copy=False)
    fresh = a.astype(float)
    contiguous = np.ascontiguousarray(a.T)
    a[0, 0] = m[2, 2]
    single[1, 1] = m[0, 1]
    kept[2, 2] = m[0, 2]
    contiguous[0, 1] = 3
    return a, whole, single, kept, other, fresh, contiguous


def diag_of_a_vector_is_a_new_matrix(x):
    v = x * 2
    d = np.diag(v)
    v[0] = x[1]
    d[0, 1] = x[2]
    return v, d


def parts_are_views(m):
    a = m * 2
    left, right = np.split(a, 2, axis=1)
    left[0] = m[1, 1]
    np.array_split(a, 2)[1][0, 3] = m[0, 1]
    np.hsplit(a, 4)[2][...] *= m[1, 2]
    for row in a:
        row[0] += m[0, 3]
    return a, left, right


def real_and_imaginary_parts(x):
    z = x * (1 + 2j)
    z.real[0] = x[1]
    z.imag[1:] += x[2]
    z.real = z.real * x[3]
    z.imag = 2
    z.real += 1
    y = x * 1
    y.real[1] = x[3]
    return z, z.real, y, y.imag


def rows_at_traced_places(m):
    a = m * 2
    i, j = np.argmax(m[:, 0]), np.argmin(m[0])
    row = a[i]
    row[:] = m[0, 1]
    a[j][1:] += m[1, 1]
    column = a[:, j]
    column *= 3
    a[i, 1] = 9
    swapped = a[np.array([0, 1])]
    swapped[0] = -1
    return a, row, column, swapped


def swaps(m):
    a = m[0] * 2
    i, j = np.argmax(a), np.argmin(a)
    a[i], a[j] = a[j], a[i]
    b = m * 1
    b[0], b[1] = b[1], b[0]
    b[[1, 2]] = b[[2, 1]]
    b[[0, j]] = b[[j, 0]]
    b[:, [0, i]] *= 2
    return a, b


def loops_see_their_own_writes(x):
    a = x * 1
    for i, value in enumerate(a):
        if i + 1 < len(a):
            a[i + 1] += value
    return a


def functions_that_may_not_copy(x):
    a = x / np.abs(x)
    a[0] = np.nan
    b = np.nan_to_num(a, copy=False, nan=3.0)
    b[1] = x[1]
    np.nan_to_num(a, False, 4.0)
    return a, b, np.nan_to_num(a[:2])


def arrays_of_rank_0(x):
    a = np.asarray(x[0])
    b = a
    a += 1
    b[...] = b * 2
    c = np.squeeze(x[:1] * 2)
    c[()] = x[1]
    s = x[0]
    t = s
    s += 1
    found = [isinstance(y, np.ndarray) for y in (a, c, s, np.where(x[0] > 0, 1.0, 2.0))]
    return a, b, c, s, t, np.array(found)


def attributes_that_can_be_set(m):
    a = m * 2
    b = a[1]
    a.flat = np.arange(12) * m[0, 1]
    a.flat[2] = 8
    a.real[2] = m[1, 1]
    b.flat[::2] = 0
    return a, b


def einsum_without_a_sum_is_a_view(m):
    a = m[:, :3] * 2
    np.einsum("ii->i", a)[:] = m[0, 1]
    b = np.einsum("ij->ji", a)
    total = np.einsum("ij->i", a)
    b[0, 1] = 7
    a[2, 2] = m[1, 2]
    return a, b, total, np.einsum("ij,ij->", a, b)


def array_without_a_copy(x):
    a = np.zeros(4)
    b, c, d = np.asarray(a), np.array(a), np.array(a, copy=False)
    a[0] = x[0]
    d[1] = x[1]
    e = np.array(a, copy=None)
    e[2] = x[2]
    return a, b, c, d, e


PROGRAMS = [
    (einsum_without_a_sum_is_a_view, M),
    (array_without_a_copy, X),
    (ravel_of_a_transpose_is_a_copy, M),
    (ravel_of_a_fortran_ordered_result, M),
    (ravel_of_strided_rows, M),
    (orders, M),
    (conversions_share_memory_unless_the_dtype_changes, M),
    (diag_of_a_vector_is_a_new_matrix, X),
    (parts_are_views, M),
    (real_and_imaginary_parts, X),
    (rows_at_traced_places, M),
    (swaps, M),
    (loops_see_their_own_writes, X),
    (functions_that_may_not_copy, X),
    (arrays_of_rank_0, X),
    (attributes_that_can_be_set, M),
]


@pytest.mark.parametrize(("program", "argument"), PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS])
def test_memory_is_shared_as_in_numpy(program, argument) -> None:
    expected = nl.tree.leaves(program(argument.copy()))
    found = nl.tree.leaves(nl.lift(program)(argument))
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_where_the_layout_is_not_known_use_after_a_write_is_an_error() -> None:
    def program(m):
        a = m[:, [0, 2]]  # NumPy keeps these columns in an order of its own
        b = a.ravel()
        a[0, 0] = m[1, 1]
        return b

    with pytest.raises(errors.ValueArgumentError, match="copy"):
        nl.lift(program)(M)
