"""debug.print, debug.callback, debug.breakpoint, debug_nans, debug_infs."""

from __future__ import annotations

import bdb
import functools
import io
import os
import pty
import select
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

SOURCE = str(Path(nl.__file__).parents[1])


# ---- debug.print -----------------------------------------------------------------------------


@pytest.mark.parametrize("jitted", [False, True])
def test_print_formats(capsys, jitted):
    def f(x):
        nl.debug.print("{0} {y:.3f} {0!s:>5} {name} {z}", x, y=x / 3, name="text", z=[1, {"a": x}])
        return x

    (nl.jit(f) if jitted else f)(np.float32(1))
    assert capsys.readouterr().out == (
        "1.0 0.333   1.0 text [1, {'a': array(1., dtype=float32)}]\n"
    )


def test_print_arrays_braces_and_no_arguments(capsys):
    nl.jit(lambda x: nl.debug.print("{{}} {x}", x=x))(np.arange(3))
    nl.jit(lambda x: nl.debug.print("nothing"))(1)
    assert capsys.readouterr().out == "{} [0 1 2]\nnothing\n"


def test_print_random_keys(capsys):
    nl.jit(lambda k: nl.debug.print("{}", k))(nl.random.key(7))
    assert capsys.readouterr().out == "[0 7]\n"


def test_print_checks_its_format():
    with pytest.raises(ValueError, match="uses no field for: 1"):
        nl.debug.print("a", 1)
    with pytest.raises(ValueError, match="uses no field for: b"):
        nl.debug.print("{a}", a=1, b=2)
    with pytest.raises(IndexError, match="more fields"):
        nl.debug.print("{} {}", 1)
    with pytest.raises(KeyError, match="field 'a'"):
        nl.debug.print("{a}")
    with pytest.raises(TypeError, match="format string"):
        nl.debug.print(3)
    nl.debug.print("", 1, skip_format_check=True)


def test_ordered_prints(capsys):
    @nl.jit
    def f(x):
        def body(c, i):
            nl.debug.print("{} {}", i, c, ordered=True)
            return c * 2, None

        nl.debug.print("start", ordered=True)
        x, _ = lax.scan(body, x, np.arange(3))
        nl.debug.print("end {}", x, ordered=True)
        return x

    f(1)
    assert capsys.readouterr().out == "start\n0 1\n1 2\n2 4\nend 8\n"


def test_print_under_vmap(capsys):
    f = nl.vmap(lambda x, y: nl.debug.print("{} {}", x, y, ordered=True), (0, None))
    f(np.arange(3), 7)
    nl.jit(f)(np.arange(3), 7)
    assert capsys.readouterr().out == "0 7\n1 7\n2 7\n" * 2
    nl.vmap(lambda x: nl.debug.print("once"))(np.arange(3))
    assert capsys.readouterr().out == "once\n"


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jvp", "linearize", "jacfwd"])
def test_print_once_with_primal_values(capsys, transform, jitted):
    def f(x):
        nl.debug.print("x {}", x)
        return np.sin(x)

    function = {
        "jvp": lambda x: nl.jvp(f, (x,), (x,))[1],
        "linearize": lambda x: nl.linearize(f, x)[1](1.0),
    }.get(transform) or getattr(nl, transform)(f)
    (nl.jit(function) if jitted else function)(2.0)
    assert capsys.readouterr().out == "x 2.0\n"


def test_print_once_in_differentiated_loops_and_calls(capsys):
    def step(c):
        nl.debug.print("c {}", c, ordered=True)
        return np.sin(c)

    def f(x):
        x, _ = lax.scan(lambda c, _: (step(c), None), x, None, length=2)
        return nl.jit(lambda y: (nl.debug.print("in {}", y), y)[1])(x)

    nl.grad(f)(0.0)
    assert capsys.readouterr().out == "c 0.0\nc 0.0\nin 0.0\n"
    nl.jit(nl.grad(nl.checkpoint(f)))(0.0)
    assert sorted(capsys.readouterr().out.splitlines()) == ["c 0.0", "c 0.0", "in 0.0"]
    loop = lambda x: lax.while_loop(lambda v: v < 3, lambda v: (step(v), v + 1)[1], x)
    nl.linearize(loop, 1.0)[1](1.0)
    assert capsys.readouterr().out == "c 1.0\nc 2.0\n"


def test_callback_gets_numpy_arrays_and_anything_else():
    seen = []
    nl.jit(lambda x: nl.debug.callback(lambda *a, **k: seen.append((a, k)), x, "s", b=(x, None)))(1)
    ((args, kwargs),) = seen
    assert type(args[0]) is numpy.ndarray
    assert args[1] == "s"
    assert kwargs["b"][1] is None

    @nl.debug.callback(ordered=True)
    def note(x):
        seen.append(x)

    nl.jit(lambda x: note(x + 1))(1)
    assert seen[-1] == 2


def test_callback_errors():
    def host(x):
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        nl.jit(lambda x: nl.debug.callback(host, x))(1.0)
    with pytest.raises(TypeError, match="must be a function"):
        nl.debug.callback(3, 1.0)
    with pytest.raises(ValueError, match="ordered or partitioned"):
        nl.debug.callback(print, 1.0, ordered=True, partitioned=True)


# ---- debug.breakpoint ------------------------------------------------------------------------


def _session(commands, call, *args):
    out = io.StringIO()

    def stop():
        nl.debug.breakpoint(stdin=io.StringIO(commands), stdout=out, num_frames=3)

    result = call(stop, *args)
    return result, out.getvalue()


def test_breakpoint_commands():
    # `stop` is one more frame: `up` goes to the function that called it.
    def call(stop, x):
        @nl.jit
        def f(x):
            y = {"a": x * 2}
            label = "static"
            stop()
            return y["a"] + len(label) * 0

        return f(x)

    commands = "up,p y['a'],print y['a'],pp label,x + 1,locals,list 1,w,nope,d,d,u 9,c,"
    commands = commands.replace(",", "\n")
    result, text = _session(commands, call, 3.0)
    assert result == 6
    for piece in (
        "array(6., dtype=float32)",
        "'static'",
        "4.0",
        "label = 'static'",
        "->",
        "*** NameError: name 'nope' is not defined",
        "*** newest frame",
        "*** oldest frame",
    ):
        assert piece in text


@pytest.mark.parametrize("commands", ["quit\n", "q\n", ""])
def test_quit_ends_the_program(commands):
    with pytest.raises(bdb.BdbQuit):
        _session(commands, lambda stop: nl.jit(lambda x: (stop(), x)[1])(1.0))


def test_breakpoint_under_transformations():
    def stops(x):
        stop[0]()
        return x * x

    stop = [None]
    for transform, count in ((nl.grad, 1), (lambda f: nl.vmap(f, axis_size=3), 3)):
        out = io.StringIO()
        commands = io.StringIO("c\n" * 3)
        stop[0] = functools.partial(nl.debug.breakpoint, stdin=commands, stdout=out)
        transform(stops)(np.float32(2) if transform is nl.grad else np.arange(3.0))
        assert out.getvalue().count("Stopped") == count


def test_breakpoint_options():
    with pytest.raises(ValueError, match="no backend 'web'"):
        nl.debug.breakpoint(backend="web")
    with pytest.raises(TypeError, match="unknown options: colour"):
        nl.debug.breakpoint(colour=1)


def test_breakpoint_in_a_terminal(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import numlift as nl
            @nl.jit
            def f(x):
                doubled = x * 2
                nl.debug.breakpoint()
                return doubled
            print("result", f(21.0))
            """
        )
    )
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=other,
        stdout=other,
        stderr=other,
        env={**os.environ, "PYTHONPATH": SOURCE, "TERM": "dumb"},
        close_fds=True,
    )
    os.close(other)
    text = ""

    def read_until(wanted: str) -> None:
        nonlocal text
        deadline = time.monotonic() + 60
        while wanted not in text:
            assert time.monotonic() < deadline, text
            if select.select([main], [], [], 0.2)[0]:
                try:
                    text += os.read(main, 4096).decode()
                except OSError:  # the other side is closed
                    assert wanted in text, text

    try:
        read_until("(nldb) ")
        assert "nl.debug.breakpoint()" in text
        for command, wanted in (("p doubled", "array(42., dtype=float32)"), ("l", "->"), ("c", "")):
            text = ""
            os.write(main, (command + "\n").encode())
            read_until(wanted or "result 42.0")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(main)


# ---- debug_nans and debug_infs ---------------------------------------------------------------


def test_nan_of_an_eager_operation():
    with nl.debug_nans(True), pytest.raises(FloatingPointError, match="log made the first NaN"):
        np.log(np.float32(-1))
    with nl.debug_nans(True), pytest.raises(FloatingPointError, match="NaN"):
        lax.sqrt(np.float32(-1))


@pytest.mark.parametrize(
    ("function", "argument", "operation", "operand"),
    [
        (lambda x: np.sin(x) + np.log(x), -1.0, "log", "-1.0"),
        (lambda x: lax.scan(lambda c, _: (np.log(c), c), x, None, length=5), 1.0, "log", "-inf"),
        (lambda x: lax.while_loop(lambda c: c < 9, lambda c: np.sqrt(c - 3), x), 4.0, "sqrt", "-2"),
        (lambda x: lax.cond(x > 0, lambda: x, lambda: np.sqrt(x)), -4.0, "sqrt", "-4.0"),
        (lambda x: nl.jit(lambda y: np.sqrt(y) * 2)(x), -4.0, "sqrt", "-4.0"),
        (nl.checkpoint(lambda x: np.sqrt(x) * 2), -4.0, "sqrt", "-4.0"),
        (lambda x: x * 0 / (x - x), 1.0, "div", "0.0"),
    ],
)
def test_nan_names_operation_line_and_operands(function, argument, operation, operand):
    with nl.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        nl.jit(function)(argument)
    text = str(caught.value)
    assert f"{operation} made the first NaN" in text
    assert operand in text
    assert "test_debug.py:" in text


def test_nan_of_the_arguments_is_told_apart():
    with nl.debug_nans(True), pytest.raises(FloatingPointError, match="add was given NaN"):
        nl.jit(lambda x: x + 1)(numpy.float32("nan"))


def test_infinity():
    with nl.debug_infs(True), pytest.raises(FloatingPointError, match="div made the first inf"):
        nl.jit(lambda x: 1 / x)(0.0)
    with nl.debug_infs(True), pytest.raises(FloatingPointError, match="infinity"):
        nl.jit(lambda x: 1 / x)(np.zeros(3, "bfloat16"))


def test_no_false_alarm_and_off_by_default():
    assert numpy.isnan(nl.jit(np.log)(-1.0))
    with nl.debug_nans(True):
        nl.jit(lambda x: np.where(x > 0, np.log(x), 0.0))(-1.0)
        nl.jit(lambda x: 1 / x)(0.0)
        assert nl.jit(lambda k: k)(nl.random.key(0)).shape == ()


def test_prints_are_not_repeated_by_the_search(capsys):
    with nl.debug_nans(True), pytest.raises(FloatingPointError):
        nl.jit(lambda x: (nl.debug.print("x {}", x), np.log(x))[1])(-1.0)
    assert capsys.readouterr().out == "x -1.0\n"


def test_donated_arguments_leave_a_plain_message():
    f = nl.jit(lambda x: np.log(x), donate_argnums=0)
    with nl.debug_nans(True), pytest.raises(FloatingPointError, match="the result contains NaN"):
        f(np.full(3, -1.0))
