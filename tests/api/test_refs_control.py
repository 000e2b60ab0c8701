"""Refs in loops and branches: closed over, as operands, as xs of scan; in place in the program."""

from __future__ import annotations

import re
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


def without_jit(f: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        with nl.disable_jit():
            return f(*args)

    return called


WAYS = pytest.mark.parametrize("way", [plain, nl.jit, without_jit, nl.checkpoint])


@WAYS
def test_scan_closes_over_refs(way: Any) -> None:
    ref, other = nl.new_ref(np.zeros(3)), nl.new_ref(np.full(3, 10.0))

    def f(ref: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            ref[0] += x * other[1]
            return c + ref[0], ref[0]

        return lax.scan(step, np.float32(0), xs)

    total, ys = way(f)(ref, np.arange(4.0))
    numpy.testing.assert_array_equal(ys, [0, 10, 30, 60])
    assert float(total) == 100
    numpy.testing.assert_array_equal(value(ref), [60, 0, 0])


@WAYS
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_over_the_rows_of_a_ref(way: Any, reverse: bool) -> None:
    ref, total = nl.new_ref(np.arange(4.0).reshape(4, 1)), nl.new_ref(np.float32(0))

    def f(ref: Any, xs: Any) -> Any:
        def step(c: Any, rows: Any) -> Any:
            row, x = rows
            total[...] += row[0]
            row[...] = row[...] * x + total[...]
            return c, row[0]

        return lax.scan(step, None, (ref, xs), reverse=reverse)

    _, ys = way(f)(ref, np.arange(4.0))
    sums = numpy.cumsum([3.0, 2, 1, 0])[::-1] if reverse else numpy.cumsum([0.0, 1, 2, 3])
    wanted = numpy.arange(4.0) ** 2 + sums
    numpy.testing.assert_array_equal(value(ref)[:, 0], wanted)
    numpy.testing.assert_array_equal(ys, wanted)
    assert float(total[...]) == 6


@WAYS
def test_fori_loop_and_map(way: Any) -> None:
    ref = nl.new_ref(np.zeros(5))

    def f(ref: Any, n: Any) -> Any:
        lax.fori_loop(0, 5, lambda i, c: put(ref, i, 2.0 * i), None)
        lax.fori_loop(0, n, lambda i, c: put(ref, i, ref[i] + 100), None)
        return lax.map(lambda x: put(ref, -1, ref[-1] + x) or x * ref[0], np.arange(3.0))

    numpy.testing.assert_array_equal(way(f)(ref, 2), [0, 100, 200])
    numpy.testing.assert_array_equal(value(ref), [100, 102, 4, 6, 11])


@WAYS
@pytest.mark.parametrize("max_steps", [None, 20])
def test_while_loop(way: Any, max_steps: Any) -> None:
    ref, limit = nl.new_ref(np.zeros(2)), nl.new_ref(7.0)

    def f(ref: Any) -> Any:
        def body(n: Any) -> Any:
            ref[0] += 2
            ref[1] = limit[...]
            return n + 1

        return lax.while_loop(lambda n: ref[0] < limit[...], body, 0, max_steps=max_steps)

    assert int(way(f)(ref)) == 4
    numpy.testing.assert_array_equal(value(ref), [8, 7])


@WAYS
def test_branches(way: Any) -> None:
    ref = nl.new_ref(np.zeros(3))
    other = nl.new_ref(1.0)

    def f(ref: Any, i: Any) -> Any:
        def first(a: Any, x: Any) -> Any:
            a[0] += x
            return a[0]

        def second(a: Any, x: Any) -> Any:
            other[...] *= 2
            return x

        y = lax.switch(i, [first, second, lambda a, x: a[2] * other[...]], ref, 5.0)
        lax.cond(i > 0, lambda: put(ref, 2, 9.0), lambda: None)
        return y

    g = way(f)
    assert [float(g(ref, i)) for i in (0, 1, 2, 0)] == [5, 5, 18, 10]
    numpy.testing.assert_array_equal(value(ref), [10, 0, 9])
    assert float(other[...]) == 2


def test_platform_dependent() -> None:
    ref = nl.new_ref(np.zeros(2))
    f = lambda ref: lax.platform_dependent(
        ref, cpu=lambda r: put(r, 0, 1.0), default=lambda r: put(r, 1, 1.0)
    )
    nl.jit(f)(ref)
    assert value(ref).sum() == 1


def test_loops_in_branches_in_loops() -> None:
    ref = nl.new_ref(np.zeros(3))

    @nl.jit
    def f(n: Any) -> Any:
        made = nl.new_ref(0.0)

        def body(i: Any, c: Any) -> Any:
            def even() -> None:
                lax.fori_loop(0, 2, lambda j, _: put(ref, j, ref[j] + i), None)

            lax.cond(i % 2 == 0, even, lambda: made.addupdate(1.0))
            return c + made[...]

        return lax.fori_loop(0, n, body, 0.0), made[...]

    total, made = f(5)
    assert float(made) == 2 and float(total) == 0 + 1 + 1 + 2 + 2
    numpy.testing.assert_array_equal(value(ref), [6, 6, 0])


def test_two_refs_in_one_body_keep_apart() -> None:
    a, b = nl.new_ref(np.zeros(2)), nl.new_ref(np.ones(2))

    @nl.jit
    def swap_often(a: Any, b: Any, n: Any) -> None:
        def body(i: Any, c: Any) -> Any:
            a[...], b[...] = b[...] + i, a[...]
            return c

        lax.fori_loop(0, n, body, None)

    swap_often(a, b, 3)
    numpy.testing.assert_array_equal(value(a), [3, 3])
    numpy.testing.assert_array_equal(value(b), [1, 1])


@WAYS
def test_rows_of_rows_and_map(way: Any) -> None:
    table = nl.new_ref(np.arange(6.0).reshape(2, 3))

    def row(c: Any, row: Any) -> Any:
        lax.scan(lambda c, cell: (c, put(cell, ..., cell[...] * 10)), None, row)
        return c, row[0]

    def f(table: Any) -> Any:
        lax.scan(row, None, table)
        return lax.map(lambda row: put(row, 0, -1.0) or row[1], table)

    numpy.testing.assert_array_equal(way(f)(table), [10, 40])
    numpy.testing.assert_array_equal(value(table), [[-1, 10, 20], [-1, 40, 50]])


@pytest.mark.parametrize("way", [plain, nl.jit])
def test_loops_without_steps_and_settling_carries(way: Any) -> None:
    ref = nl.new_ref(np.zeros(2))

    def f(ref: Any) -> Any:
        lax.scan(lambda c, _: (c, put(ref, 0, 9.0)), None, None, 0)
        lax.fori_loop(3, 3, lambda i, c: put(ref, 0, 9.0), None)
        # The carry is traced twice, for int and for float; each step counts once.
        return lax.scan(lambda c, x: (c + x, ref.addupdate(1.0, 1)), 0, np.arange(3.0))[0]

    assert float(way(f)(ref)) == 3
    numpy.testing.assert_array_equal(value(ref), [0, 3])


@WAYS
def test_nothing_is_written_if_the_function_raises(way: Any) -> None:
    ref = nl.new_ref(np.zeros(2))

    def f(x: Any) -> Any:
        ref[0] = x
        raise KeyError("x")

    if way in (plain, without_jit):
        return  # plain Python: what has happened has happened
    with pytest.raises(KeyError):
        way(f)(1.0)
    with pytest.raises(KeyError):
        lax.scan(lambda c, x: f(x), None, np.ones(2))
    numpy.testing.assert_array_equal(value(ref), [0, 0])


# ---- errors ------------------------------------------------------------------------------------


def test_refs_are_not_carried() -> None:
    ref = nl.new_ref(np.zeros(3))
    for call in (
        lambda: lax.scan(lambda c, x: (c, x), ref, np.arange(3.0)),
        lambda: lax.fori_loop(0, 3, lambda i, c: c, ref),
        lambda: lax.while_loop(lambda c: False, lambda c: c, ref),
    ):
        with pytest.raises(errors.ArgumentError, match="close over the ref"):
            call()
    for call in (
        lambda: lax.scan(lambda c, x: (c, ref), 0.0, np.arange(3.0)),
        lambda: lax.cond(True, lambda: ref, lambda: ref),
        lambda: lax.map(lambda x: nl.new_ref(x), np.arange(3.0)),
    ):
        with pytest.raises(errors.ArgumentError, match="returned a Ref"):
            call()


def test_conditions_only_read() -> None:
    ref = nl.new_ref(np.zeros(3))
    with pytest.raises(errors.RefError, match="cond_fun writes a ref"):
        lax.while_loop(lambda c: put(ref, 0, 1.0) or c < 3, lambda c: c + 1, 0)


def test_rows_have_one_name() -> None:
    ref = nl.new_ref(np.zeros((3, 1)))
    with pytest.raises(errors.RefError, match="closed over as well"):
        lax.scan(lambda c, row: (c, row[0] + ref[0, 0]), None, ref)
    with pytest.raises(errors.RefError, match="passed twice"):
        lax.scan(lambda c, rows: (c, rows[0][0]), None, (ref, ref))


def test_while_loops_in_reverse_mode_say_what_to_do() -> None:
    def f(x: Any) -> Any:
        ref = nl.new_ref(x)
        lax.while_loop(lambda n: n < 3, lambda n: put(ref, ..., ref[...] * x) or n + 1, 0)
        return ref[...]

    with pytest.raises(errors.GradError, match="max_steps"):
        nl.grad(f)(2.0)


# ---- in place ----------------------------------------------------------------------------------

SIZE = 4321


def _hlo(f: Any, *args: Any) -> str:
    return f.lower(*args).compile().as_text()


def _copies(text: str) -> list[str]:
    """Instructions that copy an array of SIZE elements."""
    return re.findall(rf"= f32\[{SIZE}\]\S* copy\(.*", text)


def _aliases(text: str) -> str:
    found = re.search(r"input_output_alias={ (.*?) }, entry", text)
    return found[1] if found else ""


def test_arguments_are_changed_in_place() -> None:
    ref, other = nl.new_ref(np.zeros(SIZE)), nl.new_ref(np.zeros(SIZE))

    @nl.jit
    def f(ref: Any, x: Any) -> Any:
        ref[3] = x
        return np.full(SIZE, x)

    @nl.jit
    def g(x: Any) -> Any:
        other[4] += x
        return np.full(SIZE, x)

    for h, args, alias in ((f, (ref, 2.0), "{1}: (0,"), (g, (2.0,), "{1}: (0,")):
        text = _hlo(h, *args)
        assert alias in _aliases(text) and not _copies(text), text
    before = [r.value.unsafe_buffer_pointer() for r in (ref, other)]
    f(ref, 5.0)
    g(5.0)
    ref[1] = 6.0
    ref[2:5] += 1.0
    other[np.array([1, 1])] = 2.0
    assert before == [r.value.unsafe_buffer_pointer() for r in (ref, other)]


def test_a_ref_that_is_only_read_is_not_copied() -> None:
    ref = nl.new_ref(np.arange(float(SIZE)))
    text = _hlo(nl.jit(lambda ref: ref[...].sum()), ref)
    assert not _copies(text) and not _aliases(text)
    before = ref.value
    nl.jit(lambda ref: ref[...].sum())(ref)
    assert ref.value is before and not before.is_deleted()


def test_loops_change_refs_in_place() -> None:
    ref = nl.new_ref(np.zeros(SIZE))

    @nl.jit
    def f(ref: Any, n: Any) -> None:
        def body(i: Any, c: Any) -> Any:
            ref[i] = ref[i] * 2 + 1.0
            return c

        lax.fori_loop(0, n, body, None)

    @nl.jit
    def g(n: Any) -> None:
        lax.scan(lambda c, i: (c, put(ref, i, 1.0 * n)), None, np.arange(100))

    for h, args in ((f, (ref, 50)), (g, (3,))):
        text = _hlo(h, *args)
        assert "{}: (" in _aliases(text) and not _copies(text), text
        assert "while(" in text


def test_fori_loop_names_itself_in_errors_about_its_value() -> None:
    ref = nl.new_ref(np.arange(3.0))
    with pytest.raises(errors.ArgumentError, match=r"^fori_loop: init_val: the value is a Ref"):
        lax.fori_loop(0, 3, lambda i, c: c, ref)
    for upper in (3, np.asarray(3)):
        with pytest.raises(errors.TreeError, match=r"^fori_loop: .* carry in is a leaf"):
            nl.jit(lambda n: lax.fori_loop(0, n, lambda i, c: (c, c), 1.0))(upper)
    with pytest.raises(errors.TreeError, match=r"^fori_loop: .* carry in is a leaf"):
        lax.fori_loop(0, 3, lambda i, c: (c, c), 1.0)
    with pytest.raises(errors.ShapeError, match=r"^fori_loop: (.|\n)*  carry: float32\[3\] in"):
        lax.fori_loop(0, 3, lambda i, c: c[:2], ref[...])


@pytest.mark.parametrize(
    "index", [5, -4, 1.5, (0, 0), "a", (..., ...), slice(0, 2, 0), [0.5], numpy.ones(2, bool)]
)
def test_bad_indices_of_refs_say_what_to_try(index) -> None:
    ref = nl.new_ref(np.arange(3.0))
    for use in (lambda: ref[index], lambda: ref.__setitem__(index, 1.0)):
        with pytest.raises(errors.NumliftError, match="Try: "):
            use()
