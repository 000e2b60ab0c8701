"""Named scopes, and where operations come from in the texts of programs."""

from __future__ import annotations

import inspect
import re
import threading

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax


def names(f, *args) -> set[str]:
    """Names of the operations of a function."""
    text = nl.jit(f).lower(*args).as_text(debug_info=True)
    return set(re.findall(r'= loc\("([^"]*)"', text))


def test_scopes_nest_and_end() -> None:
    def f(x):
        with nl.named_scope("a"):
            y = np.sin(x)
            with nl.named_scope("b"):
                y = np.cos(y)
            y = np.tan(y)
        return np.exp(y)

    assert names(f, 1.0) == {"jit(f)/a/sin", "jit(f)/a/b/cos", "jit(f)/a/tan", "jit(f)/exp"}


def test_scope_is_restored_after_an_error() -> None:
    def f(x):
        try:
            with nl.named_scope("a"):
                raise KeyError
        except KeyError:
            return np.sin(x)

    assert names(f, 1.0) == {"jit(f)/sin"}


def test_decorators() -> None:
    @nl.named_scope("layer")
    def g(x):
        """Text of g."""
        return np.sin(x)

    @nl.named_call
    def h(x):
        return np.cos(x)

    k = nl.named_call(name="other")(h)
    assert g.__name__ == "g" and g.__doc__ == "Text of g."
    assert names(lambda x: k(h(g(x))), 1.0) == {
        "jit(<lambda>)/layer/sin",
        "jit(<lambda>)/h/cos",
        "jit(<lambda>)/other/h/cos",
    }
    assert float(g(0.0)) == 0.0


def test_one_scope_object_nested() -> None:
    s = nl.named_scope("s")

    def f(x):
        with s, s:
            return np.sin(x)

    assert names(f, 1.0) == {"jit(f)/s/s/sin"}
    assert names(f, 1.0) == {"jit(f)/s/s/sin"}


def test_transformations() -> None:
    def f(x):
        with nl.named_scope("layer"):
            return np.sum(np.sin(x) * 3.0)

    x = np.ones(4)
    found = names(nl.grad(f), x)
    assert "jit(f)/layer/cos" in found
    assert any("/transpose(layer)/" in n for n in found)
    assert "jit(f)/layer/sin" in names(nl.vmap(f), np.ones((2, 4)))
    tangents = names(lambda x: nl.jvp(f, (x,), (x,)), x)
    assert {"jit(<lambda>)/layer/sin", "jit(<lambda>)/layer/cos"} <= tangents


def test_nested_functions_and_loops() -> None:
    @nl.jit
    def inner(x):
        with nl.named_scope("in"):
            return np.sin(x) + np.cos(x) * np.tan(x)

    def f(x):
        with nl.named_scope("out"):
            return lax.fori_loop(0, 3, lambda i, x: inner(x) + np.exp(x), x)

    found = names(f, 1.0)
    assert any(re.fullmatch(r"jit\(f\)/out/\w+/.*exp", n) for n in found), found
    assert "in/sin" in found  # XLA puts the name of the call in front
    compiled = nl.jit(lambda x: inner(inner(x))).lower(np.ones(3)).compile().as_text()
    assert "jit(<lambda>)/jit(inner)/in/sin" in compiled
    found = names(nl.grad(lambda x: inner(x) * 2), 1.0)
    assert any("in/" in n for n in found)


def test_file_and_line() -> None:
    def f(x):
        return np.sin(x)

    line = inspect.getsourcelines(f)[1] + 1
    lowered = nl.jit(f).lower(1.0)
    assert f'loc("jit(f)/sin"("{__file__}":{line}:0))' in lowered.as_text(debug_info=True)
    assert "loc(" not in lowered.as_text()
    assert 'op_name="jit(f)/sin"' in lowered.as_text("hlo", debug_info=True)


def test_programs_are_shared_whatever_their_lines() -> None:
    def first(x):
        with nl.named_scope("one"):
            return np.sin(x) * 5.5

    def second(x):
        return np.sin(x) * 5.5

    second.__name__ = "first"
    a, b = nl.jit(first).lower(1.0), nl.jit(second).lower(1.0)
    assert a.as_text() == b.as_text()
    assert a.as_text(debug_info=True) != b.as_text(debug_info=True)
    assert a.compile().runtime_executable() is b.compile().runtime_executable()


def test_odd_names() -> None:
    def f(x):
        with nl.named_scope('a"b\\c\n\u00e9'):
            return np.sin(x)

    f.__name__ = "été 1"
    assert float(nl.jit(f).lower(0.0).compile()(0.0)) == 0.0
    with pytest.raises(errors.ArgumentError, match="must be a text"):
        nl.named_scope(3)


def test_scopes_of_threads_do_not_mix() -> None:
    scoped = nl.named_scope("t")(lambda x: np.sin(x))
    found = []

    def run() -> None:
        found.extend(names(lambda x: scoped(x), 1.0))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(found) == {"jit(<lambda>)/t/sin"}


def test_scopes_outside_of_traces_do_nothing() -> None:
    with nl.named_scope("nothing"):
        assert float(np.sin(numpy.float32(0))) == 0.0
