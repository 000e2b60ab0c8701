"""Counters of jitted functions, and the warning about retraces."""

from __future__ import annotations

import warnings

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift.scopes import explain_cache_misses


def test_counters() -> None:
    f = nl.jit(lambda x: np.sin(x) * 17.25)
    assert f.stats()[:4] == (0, 0, 0, 0)
    f(np.ones(3))
    f(np.ones(3))
    s = f.stats()
    assert s.traces == 1 and s.programs == 1
    assert s.compiles + s.disk_hits + s.memory_hits == 1
    assert min(s.trace_seconds, s.lower_seconds, s.compile_seconds) > 0
    assert s.program_bytes > 100
    f(np.ones(4))
    assert f.stats().traces == 2 and f.stats().programs == 2


def test_equal_programs_are_found_in_memory() -> None:
    def f(x):
        return x * 3.0 - 7.125

    nl.jit(f)(np.ones(5))
    other = nl.jit(f)
    other(np.ones(5))
    assert other.stats().memory_hits == 1 and other.stats().compiles == 0


def test_stages_count() -> None:
    f = nl.jit(lambda x: x - 1)
    f.lower(1.0).compile()
    s = f.stats()
    assert s.traces == 1 and s.compiles + s.disk_hits + s.memory_hits == 1
    assert s.lower_seconds > 0 and s.programs == 0


def test_programs_with_callbacks_are_counted() -> None:
    f = nl.jit(lambda x: nl.debug.callback(lambda v: None, x) or x)
    f(1.0)
    assert f.stats().program_bytes > 0


def test_the_third_retrace_warns_once() -> None:
    f = nl.jit(lambda params, x: params["w"] * x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 2, 3):
            f({"w": np.ones(n)}, 1.0)
    with pytest.warns(nl.RetraceWarning) as caught:
        f({"w": np.ones(4)}, 1.0)
    text = str(caught[0].message)
    assert "traced 4 times" in text
    assert "params['w']: float32[3] -> float32[4]" in text
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (5, 6, 7, 8, 9):
            f({"w": np.ones(n)}, 1.0)


def _message(f, *calls):
    with warnings.catch_warnings(record=True) as caught, explain_cache_misses():
        warnings.simplefilter("always")
        for args, kwargs in calls:
            f(*args, **kwargs)
    assert all(w.category is nl.RetraceWarning for w in caught)
    return str(caught[-1].message)


def test_what_changed_static() -> None:
    f = nl.jit(lambda x, n, m: x * n, static_argnames=("n",))
    text = _message(f, ((1.0, 2, 3.0), {}), ((1.0, 3, 3.0), {}))
    assert "static n: 2 -> 3" in text and "as arrays" in text
    assert "m:" not in text

    f = nl.jit(lambda x, g: g(x), static_argnums=1)
    text = _message(f, ((1.0, abs), {}), ((1.0, lambda x: x), {}))
    assert "static g: <built-in function abs> -> <function" in text


def test_what_changed_static_with_equal_text() -> None:
    class Setting:
        def __repr__(self) -> str:
            return "Setting"

    f = nl.jit(lambda x, s: x, static_argnums=1)
    text = _message(f, ((1.0, Setting()), {}), ((1.0, Setting()), {}))
    assert "static s: Setting -> Setting (another object" in text


def test_what_changed_structure_and_weak_type() -> None:
    f = nl.jit(lambda x: nl.tree.leaves(x)[0])
    text = _message(f, (([1.0],), {}), (([1.0, 2.0],), {}))
    assert "structure: " in text and "x[1]: (absent) -> ~float32[]" in text
    f = nl.jit(lambda *xs: xs[0])
    text = _message(f, ((1.0,), {}), ((numpy.float32(1.0),), {}))
    assert "argument 0: ~float32[] -> float32[]" in text


def test_what_changed_keyword_flag_and_position() -> None:
    f = nl.jit(lambda n, x, *, k: x + k, static_argnums=0)
    text = _message(f, ((1, 2.0), {"k": 1.0}), ((1, 2.0), {"k": 1}))
    assert "k: ~float32[] -> ~int32[]" in text and "static n" not in text
    f = nl.jit(lambda x: x)
    f(1.0)
    with nl.numpy_rank_promotion("raise"):
        text = _message(f, ((1.0,), {}))
    assert "flag numpy_rank_promotion: 'allow' -> 'raise'" in text


def test_the_closest_call_is_shown() -> None:
    f = nl.jit(lambda a, b: a)
    calls = [((np.ones(2), 1.0), {}), ((np.ones(3), 1), {}), ((np.ones(2), 1), {})]
    text = _message(f, *calls)
    assert len([line for line in text.splitlines() if "->" in line]) == 1


def test_inner_functions_warn_too() -> None:
    inner = nl.jit(lambda x: x.sum())

    @nl.jit
    def outer(xs):
        return [inner(x) for x in xs]

    with pytest.warns(nl.RetraceWarning, match="float32"):
        outer([np.ones(n) for n in (1, 2, 3, 4)])
