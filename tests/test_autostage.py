"""`jit(f, autostage=True)`: the rewritten function does what Python does."""

from __future__ import annotations

import functools
import textwrap
import traceback
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.autostage import autostage
from numlift.autostage.called import staged

SCALE = 3.0


def branch(x: Any) -> Any:
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


def early(x: Any) -> Any:
    if x > 3:
        return x * 10.0
    elif x > 1:
        return x
    y = x + 1
    return y * 2


def one_side(x: Any) -> Any:
    y, z = 0, x
    if x > 1:
        y, z = x + 1, x * x
        if x > 2:
            z = z - y
    return y + z


def collatz(n: Any) -> Any:
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def jumps(x: Any, n: Any) -> Any:
    i = 0
    while True:
        if i >= n:
            break
        i += 1
        if i % 2 == 0:
            continue
        x = x + i
    return x


def rows(xs: Any) -> Any:
    total = 0.0
    for i, row in enumerate(xs):
        if row < 0:
            break
        total += row * i
    return total


def pairs(xs: Any) -> Any:
    total = 0.0
    for (a, b), c in zip(xs.reshape(2, 2), xs, strict=False):
        total += a * b - c
    return total


def triangle(n: Any) -> Any:
    total = 0
    for i in range(1, n):
        for j in reversed(range(i)):
            if j == 1:
                continue
            total += i * j
    return total


def find(xs: Any, v: Any) -> Any:
    for i in range(len(xs)):
        if xs[i] == v:
            return i
    return -1


def find_any(n: Any, v: Any) -> Any:
    for i in range(n):
        if i * i > v:
            return i
    else:
        n = n * 100
    return n


def logic(x: Any) -> Any:
    return 1.0 if 0 < x < 2 and not x == 1.5 or x > 10 else 0.0  # noqa: SIM201


def containers(x: Any) -> Any:
    out = {"a": x}
    if x > 0:
        out["b"] = x
        out["a"] = x * 3
    else:
        out["b"] = 0.0
    found = []
    for i in range(3):
        if x > i:
            found.append(x)
        else:
            found.append(0.0)
    return out["a"] + out["b"] + sum(found)


def closure(x: Any) -> Any:
    factor = 2.0

    def scaled(y: Any) -> Any:
        if y > 1:
            return y * factor
        return y

    if x > 0:
        factor = SCALE
    return scaled(x)


def left(xs: Any) -> Any:
    total = 0.0
    for row in xs:
        if row > 0:
            if row > 5:
                break
            y = row * 2
        else:
            y = 0.0
        total += y
    return total


def guarded(x: Any) -> Any:
    try:
        if x > 0:
            return x * 2
        y = x + 1
    finally:
        z = 3.0
    while (half := x / 2) < -1:
        x = half
    return y * z + x


def indices(x: Any, n: Any) -> Any:
    for i in range(n):
        for j in range(n, 0, -1):
            if i * j > x:
                return i * 10 + j
    return -1


def keywords(x: Any, *limits: Any, scale: float = 2.0, **more: Any) -> Any:
    for limit in limits:
        if x > limit:
            break
        x = x + limit
    del limit
    return x * scale + sum(v for v in more.values() if v is not None)


CASES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (branch, [(2.0,), (-2.0,)]),
    (early, [(4.0,), (2.0,), (0.0,)]),
    (one_side, [(0.5,), (1.5,), (3.0,)]),
    (collatz, [(6,), (1,)]),
    (jumps, [(0, 5), (1, 0)]),
    (rows, [(numpy.array([1, 2, 3, -1, 5], numpy.float32),)]),
    (pairs, [(numpy.array([1, 2, 3, 4], numpy.float32),)]),
    (triangle, [(5,), (0,)]),
    (find, [(numpy.arange(5), 3), (numpy.arange(5), 9)]),
    (find_any, [(9, 20), (3, 20)]),
    (logic, [(1.0,), (1.5,), (3.0,), (11.0,)]),
    (containers, [(1.5,), (-1.0,)]),
    (left, [(numpy.array([1, -1, 3, 9, 2], numpy.float32),)]),
    (guarded, [(1.0,), (-1.0,), (-9.0,)]),
    (indices, [(5, 4), (50, 4)]),
    (keywords, [(1.0, 2.0, 0.5, 3.0)]),
    (closure, [(2.0,), (-2.0,), (0.5,)]),
]


@pytest.mark.parametrize(("f", "calls"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_equals_python(f: Any, calls: list[tuple[Any, ...]]) -> None:
    staged, plain = nl.jit(f, autostage=True), autostage(f)
    for args in calls:
        assert float(staged(*args)) == pytest.approx(float(f(*args)))
        assert float(plain(*args)) == pytest.approx(float(f(*args)))


def test_one_program_serves_both_branches() -> None:
    f = nl.jit(branch, autostage=True)
    f(1.0)
    f(-1.0)
    assert f.stats().traces == 1


def test_derivatives_and_vmap() -> None:
    f = nl.jit(early, autostage=True)
    assert [float(nl.grad(f)(x)) for x in (4.0, 2.0, 0.0)] == [10.0, 1.0, 2.0]
    xs = numpy.array([4.0, 2.0, 0.0], numpy.float32)
    numpy.testing.assert_allclose(nl.vmap(f)(xs), [40.0, 2.0, 2.0])
    g = nl.grad(nl.jit(rows, autostage=True))(numpy.array([1, 2, -1, 5], numpy.float32))
    numpy.testing.assert_allclose(g, [0, 1, 0, 0])


def halved(x: Any) -> Any:
    while x > 1.0:
        x = x / 2
    return x


def test_while_has_forward_mode_only() -> None:
    f = nl.jit(halved, autostage=True)
    assert float(nl.jvp(f, (8.0,), (1.0,))[1]) == 0.125
    line = halved.__code__.co_firstlineno + 1
    text = rf"lax.while_loop\(.*max_steps=N\) in place of the `while` on line {line}"
    with pytest.raises(errors.GradError, match=text):
        nl.grad(f)(8.0)


def summed(x: Any, n: Any) -> Any:
    total = x
    for _ in range(n):
        total = total * x
    return total


def test_for_of_traced_length_has_forward_mode_only() -> None:
    f = nl.jit(summed, autostage=True)
    line = summed.__code__.co_firstlineno + 2
    text = rf"lax.fori_loop\(.*max_steps=N\) in place of the `for` on line {line}"
    with pytest.raises(errors.GradError, match=text):
        nl.grad(f)(8.0, 3)


def powers(x: Any, n: int, *, twice: bool = False) -> Any:
    for _ in range(n):
        x = x * x if x > 0 else x
    if twice:
        x = 2 * x
    return x


def test_known_conditions_stay_python() -> None:
    f = nl.jit(powers, autostage=True, static_argnums=1, static_argnames="twice")
    assert float(f(2.0, 2)) == 16.0
    assert float(f(2.0, 2, twice=True)) == 32.0


class Model:
    """Private names, super() and methods."""

    def __init__(self) -> None:
        self.__limit = 1.0

    def call(self, x: Any, by: float = 2.0) -> Any:
        if x > self.__limit:
            return x * by
        return x

    def __call__(self, x: Any) -> Any:
        if x > 0:
            return super().__hash__() * 0 + x
        return -x


def test_kinds_of_functions() -> None:
    model = Model()
    assert float(nl.jit(model.call, autostage=True)(3.0)) == 6.0
    assert float(nl.jit(model, autostage=True)(-3.0)) == 3.0
    partly = functools.partial(jumps, n=5)
    assert float(nl.jit(partly, autostage=True)(0)) == 9.0
    clip = nl.jit(lambda x: x if x < 1 else 1.0, autostage=True)
    assert float(clip(5.0)) == 1.0
    assert nl.jit(branch, autostage=True).__name__ == "branch"


def test_tracebacks_point_at_the_users_line() -> None:
    def fails(x: Any) -> Any:
        if x > 0:
            x = x + 1
        return np.reshape(x, (7,))

    with pytest.raises(errors.ShapeError) as caught:
        nl.jit(fails, autostage=True)(1.0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    lines = [s.line for s in traceback.extract_tb(caught.value.__traceback__)]
    assert "return np.reshape(x, (7,))" in lines, last
    assert "test_autostage.py" in str(caught.value)


def missing(x: Any) -> Any:
    if x > 0:
        y = 1.0
    return y


def disagree(x: Any) -> Any:
    if x > 0:
        y = np.ones(3)
    else:
        y = np.ones(2)
    return y


def no_result(x: Any) -> Any:  # noqa: RET503
    if x > 0:
        return x


def changes_shape(x: Any) -> Any:
    t = np.zeros(3)
    while x > 0:
        x -= 1
        t = np.zeros(4)
    return t


def changes_kind(x: Any) -> Any:
    t = "none"
    while x > 0:
        x -= 1
        t = x
    return t


def loop_local(n: Any) -> Any:
    for i in range(n):
        z = i
    return z


def raises(x: Any) -> Any:
    if x > 0:
        raise ValueError("no")
    return x


def tries(x: Any) -> Any:
    while x > 0:
        try:
            x = x - 1
        finally:
            pass
    return x


def withs(x: Any) -> Any:
    if x > 0:
        with nl.named_scope("a"):
            x = x + 1
    return x


def writes_global(x: Any) -> Any:
    global SCALE
    if x > 0:
        SCALE = 4.0
    return x


class Holder:
    """A plain object."""

    value: Any = None


def writes_attribute(x: Any) -> Any:
    holder = Holder()
    if x > 0:
        holder.value = x
    return x


def ambiguous(x: Any) -> Any:
    x = np.stack([x, x])
    if x > 0:
        x = -x
    return x


def break_with_other_shape(x: Any) -> Any:
    for _ in range(3):
        if x > 0:
            y = np.ones(3)
            break
        y = np.ones(2)
    return y


FAILURES: list[tuple[Any, str]] = [
    (missing, r"'y' is assigned in only one branch.*return y"),
    (disagree, r"'y' is float32\[3\].*float32\[2\]"),
    (break_with_other_shape, r"'y' is float32\[3\].*float32\[2\]"),
    (no_result, "None where it reaches its end"),
    (changes_shape, r"'t' is float32\[3\] before.*float32\[4\] after.*while x > 0"),
    (changes_kind, r"'t' is str 'none' before.*int32\[\] after"),
    (loop_local, "'z' is assigned only inside the for.*zero times"),
    (raises, r"`raise` has no staged form.*raise ValueError.*checkify"),
    (tries, "`try` has no staged form"),
    (withs, "`with` has no staged form"),
    (writes_global, "global variable 'SCALE'"),
    (writes_attribute, r"attribute \.value"),
    (ambiguous, r"shape \[2\] is ambiguous.*np\.any"),
]


@pytest.mark.parametrize(("f", "text"), FAILURES, ids=[f.__name__ for f, _ in FAILURES])
def test_impossible_names_the_line(f: Any, text: str) -> None:
    with pytest.raises(errors.AutostageError, match=f"(?s){text}") as caught:
        nl.jit(f, autostage=True)(1)
    assert "test_autostage.py:" in str(caught.value)


def test_python_errors_stay_python_errors() -> None:
    f = autostage(missing)
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(-1.0)


def test_without_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x", scope)
    with pytest.raises(errors.AutostageError, match="not available"):
        nl.jit(scope["f"], autostage=True)
    with pytest.raises(errors.AutostageError, match="no Python source"):
        nl.jit(abs, autostage=True)
    with pytest.raises(errors.AutostageError, match="hidden by another decorator"):
        nl.jit(functools.wraps(branch)(lambda x: branch(x)), autostage=True)


# ---- functions that are called -------------------------------------------------------------------


def twice_or_less(x: Any) -> Any:
    if x > 0:
        return x * 2
    return x - 1


def deeper(x: Any, *, scale: float = 2.0) -> Any:
    total = 0.0
    while total < 5:
        total += twice_or_less(abs(x) + 1) * scale
    return total


relu = lambda x: x if x > 0 else x * 0


def logged(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        found = f(*args)
        return found + 1 if found > 3 else found

    return wrapper


@logged
def decorated(x: Any) -> Any:
    if x > 0:
        return x * x
    return -x


def counted(n: Any) -> Any:
    """A recursion that ends where that is known."""

    def step(x: Any, k: int) -> Any:
        if k == 0:
            return x
        return step(x * 2 if x < 10 else x - 1, k - 1)

    return step(n, 4)


class Layer:
    def __init__(self, slope: float):
        self.slope = slope

    def __call__(self, x: Any) -> Any:
        return x if x > 0 else self.slope * x

    def power(self, x: Any, n: int) -> Any:
        for _ in range(n):
            x = self(x)
            if x < -3:
                break
        return x

    @staticmethod
    def sign(x: Any) -> Any:
        return 1.0 if x > 0 else -1.0

    @classmethod
    def made(cls, x: Any) -> Any:
        return cls(0.5)(x)

    @property
    def steep(self) -> bool:
        return self.slope > 1


class Doubled(Layer):
    def power(self, x: Any, n: int) -> Any:
        found = super().power(x, n)
        return found * 2 if found > 0 else found


def closure(k: float) -> Any:
    def inside(x: Any) -> Any:
        if x > k:
            return x - k
        return x * 0.0

    return inside


above = closure(1.5)
partial_of_helper = functools.partial(deeper, scale=3.0)
CALLS = [
    lambda x: twice_or_less(x) + twice_or_less(-x),
    lambda x: deeper(x) + deeper(x, scale=0.5),
    lambda x: relu(x) + relu(-x),
    lambda x: decorated(x),
    lambda x: counted(x),
    lambda x: Layer(0.1)(x) + Layer.sign(x) + Layer.made(x),
    lambda x: Doubled(2.0).power(x, 3),
    lambda x: above(x) + closure(0.2)(x),
    lambda x: partial_of_helper(x),
    lambda x: sum(map(twice_or_less, [1.0, 2.0])) + twice_or_less(x),
    lambda x: max(x, 2.0, -x) + min(x, 1.0),
    lambda x: max([x, -x], key=lambda v: v * v - v),
    lambda x: 1.0 if any(v > 1 for v in (x, -x)) and not all([x > 0, x > 1]) else 0.0,
    lambda x: sum([relu(v) for v in (x, -x)]) + (lambda v: v if v > 1 else 1.0)(x),
]


@pytest.mark.parametrize("f", CALLS)
@pytest.mark.parametrize("x", [2.5, -1.25, 0.5])
def test_called_functions_are_staged(f: Any, x: float) -> None:
    staged = nl.jit(f, autostage=True)
    wanted = f(x)
    numpy.testing.assert_allclose(staged(x), wanted, rtol=1e-6)
    both = nl.vmap(staged)(numpy.asarray([x, -x], "float32"))
    numpy.testing.assert_allclose(both, [wanted, f(-x)], rtol=1e-6)
    slope = nl.jvp(staged, (x,), (1.0,))[1]
    numpy.testing.assert_allclose(slope, nl.jvp(f, (x,), (1.0,))[1], rtol=1e-5)


def test_gradients_of_called_functions() -> None:
    f = nl.jit(lambda x: decorated(x) + Layer(0.1)(x) + relu(x), autostage=True)
    assert nl.grad(f)(2.0) == 6.0
    numpy.testing.assert_allclose(nl.vmap(nl.grad(f))(numpy.asarray([2.0, -2.0])), [6.0, -0.9])


def test_helpers_stay_what_they_are() -> None:
    before = twice_or_less.__code__
    nl.jit(lambda x: twice_or_less(x), autostage=True)(1.0)
    assert twice_or_less.__code__ is before
    with pytest.raises(TypeError, match="not known while"):
        nl.jit(twice_or_less)(1.0)


def test_libraries_are_not_rewritten() -> None:
    def f(x: Any) -> Any:
        text = textwrap.dedent("  a")
        return np.sin(x) if x > 0 else np.cos(x) * len(text)

    numpy.testing.assert_allclose(nl.jit(f, autostage=True)(-1.0), numpy.cos(-1.0), rtol=1e-6)
    for function in (textwrap.dedent, np.sin, numpy.linalg.norm, nl.vmap, dict, len, print):
        assert staged(function, "tests.test_autostage") is function
    assert staged(twice_or_less, "tests.test_autostage") is not twice_or_less
    assert staged(twice_or_less, "elsewhere") is staged(twice_or_less, "tests.test_autostage")


def test_generators_are_called_as_they_are() -> None:
    def f(x: Any) -> Any:
        def rows() -> Any:
            yield x
            yield x * 2

        total = 0.0
        for r in rows():
            if r > 1:
                total += r
        return total

    assert nl.jit(f, autostage=True)(1.0) == 2.0


def endless(n: Any) -> Any:
    if n <= 1:
        return 1
    return n * endless(n - 1)


def test_recursion_that_depends_on_traced_values() -> None:
    with pytest.raises(errors.AutostageError, match="the recursion has no end") as caught:
        nl.jit(endless, autostage=True)(5)
    assert "if n <= 1" in str(caught.value)


def test_assert() -> None:
    def f(x: Any, n: int) -> Any:
        assert n > 1, f"n is {n}"
        if n == 3:
            assert x > 0
        return x

    g = nl.jit(f, autostage=True, static_argnums=1)
    assert g(1.0, 2) == 1.0
    with pytest.raises(AssertionError, match="n is 1"):
        g(1.0, 1)
    with pytest.raises(errors.AutostageError, match="assert x > 0"):
        g(1.0, 3)


def test_errors_in_called_functions_name_their_line() -> None:
    def helper(x: Any) -> Any:
        if x > 0:
            y = x
        return y  # the place

    with pytest.raises(errors.AutostageError, match="# the place"):
        nl.jit(lambda x: helper(x), autostage=True)(1.0)

    def rows(xs: Any) -> Any:
        return sum([x for x in xs if x > 0])

    with pytest.raises(TypeError, match=r"if x > 0\]"):
        nl.jit(lambda xs: rows(xs), autostage=True)(numpy.ones(3))
