"""`debug.breakpoint`: a small debugger in the terminal, with the values of a running program."""

from __future__ import annotations

import bdb
import cmd
import linecache
import os
import pprint
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any

from .. import errors
from ..core.source import internal_files
from ..core.tracing import Interpreter, Tracer, current
from ..tree import tree_flatten, tree_unflatten
from .debug_callbacks import observe

_AROUND = 5


class StoppedFrame:
    """A frame of the user's program as it was when `breakpoint` was called.

    Attributes:
        filename, line, function: where it is.
        globals: its global names.
        locals: its local names; traced values are replaced by their values when it stops.
    """

    __slots__ = ("filename", "line", "function", "globals", "locals")

    def __init__(
        self, filename: str, line: int, function: str, names: dict[str, Any], locals: dict[str, Any]
    ):
        self.filename, self.line, self.function = filename, line, function
        self.globals, self.locals = names, locals

    def __str__(self) -> str:
        return f"{self.filename}({self.line}) {self.function}"

    def listing(self, around: int = _AROUND) -> str:
        """Source lines around the place; an arrow marks it."""
        lines = linecache.getlines(self.filename)
        if not lines:
            return f"(no source of {self.filename})"
        first, last = max(1, self.line - around), min(len(lines), self.line + around)
        width = len(str(last))
        shown = []
        for n in range(first, last + 1):
            mark = "->" if n == self.line else "  "
            shown.append(f"{mark} {n:>{width}}  {lines[n - 1].rstrip()}")
        return "\n".join(shown)


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> None:
    """Stop here and open a debugger in the terminal, also inside compiled programs.

    The debugger shows the frames that called, with the values that their variables have in the
    running program: ``p`` and ``pp`` print an expression, ``up`` and ``down`` change the frame,
    ``list`` shows the source, ``locals`` all variables, ``continue`` goes on, ``quit`` ends the
    program by raising `bdb.BdbQuit`. Under `vmap` it stops once an example.

    Args:
        backend: "cli" or None: the terminal.
        filter_frames: leave out frames of Numlift.
        num_frames: keep that many frames only, innermost first.
        ordered: stops happen in the order of the program.
        token: not used; accepted for programs written for JAX.
        **kwargs: ``stdin`` and ``stdout``: text streams to use instead of those of the process.

    Returns:
        None, when the user types ``continue``.

    Raises:
        ValueArgumentError: another backend.
        ArgumentError: another option.

    Example:
        >>> import io
        >>> import numlift as nl
        >>> @nl.jit
        ... def f(x):
        ...     y = x * 2
        ...     nl.debug.breakpoint(stdin=io.StringIO("p y\\ncontinue\\n"), stdout=out)
        ...     return y
        >>> out = io.StringIO()
        >>> y = f(1.5)
        >>> "array(3.," in out.getvalue()
        True
    """
    if backend not in (None, "cli"):
        raise errors.ValueArgumentError(
            errors.explain("debug.breakpoint", f"there is no backend {backend!r}", try_='"cli"')
        )
    unknown = set(kwargs) - {"stdin", "stdout"}
    if unknown:
        raise errors.ArgumentError(
            errors.explain("debug.breakpoint", f"unknown options: {', '.join(sorted(unknown))}")
        )
    frames = stopped_frames(sys._getframe(1), filter_frames, num_frames)
    leaves, tree = tree_flatten([_visible(f.locals) for f in frames])

    def stop(*values: Any) -> None:
        found = tree_unflatten(tree, values)
        now = [
            StoppedFrame(f.filename, f.line, f.function, f.globals, {**f.locals, **names})
            for f, names in zip(frames, found, strict=True)
        ]
        TerminalDebugger(now, kwargs.get("stdin"), kwargs.get("stdout")).run()

    stop.__name__ = "breakpoint"
    observe(stop, leaves, {}, ordered)


def stopped_frames(
    frame: FrameType | None, filter_frames: bool, num_frames: int | None
) -> list[StoppedFrame]:
    """The stack from `frame` outwards."""
    found: list[StoppedFrame] = []
    while frame is not None and (num_frames is None or len(found) < num_frames):
        code = frame.f_code
        if not (filter_frames and internal_files[code.co_filename]):
            filename = os.path.abspath(code.co_filename)
            if not os.path.exists(filename):
                filename = code.co_filename
            found.append(
                StoppedFrame(
                    filename, frame.f_lineno, code.co_name, frame.f_globals, dict(frame.f_locals)
                )
            )
        frame = frame.f_back
    return found


def _visible(names: dict[str, Any]) -> dict[str, Any]:
    """Variables that hold traced values of the traces that are running here."""
    running = set()
    interpreter: Interpreter | None = current.get()
    while interpreter is not None:
        running.add(id(interpreter))
        interpreter = interpreter.parent
    found = {}
    for name, value in names.items():
        try:
            leaves = tree_flatten(value)[0]
        except Exception:  # a container that cannot be flattened: shown as it is
            continue
        traced = [x for x in leaves if isinstance(x, Tracer)]
        if traced and all(id(x.owner) in running for x in traced):
            found[name] = value
    return found


class TerminalDebugger(cmd.Cmd):
    """Commands at a stop. Its names follow `pdb`."""

    prompt = "(nldb) "

    def __init__(self, frames: Sequence[StoppedFrame], stdin: Any = None, stdout: Any = None):
        super().__init__(stdin=stdin or sys.stdin, stdout=stdout or sys.stdout)
        self.use_rawinput = stdin is None and stdout is None
        self.frames, self.at = list(frames), 0

    @property
    def frame(self) -> StoppedFrame:
        """The frame that commands look at."""
        return self.frames[self.at]

    def run(self) -> None:
        """Take commands until one of them goes on or quits."""
        self.tell("Stopped by nl.debug.breakpoint; type help for the commands.")
        self.show_place()
        while True:
            try:
                self.cmdloop()
                return
            except KeyboardInterrupt:
                self.tell("\n(use quit to end the program, continue to go on)")

    def tell(self, text: str) -> None:
        """Write a line."""
        self.stdout.write(text + "\n")
        self.stdout.flush()

    def show_place(self) -> None:
        """Write where the current frame is."""
        self.tell(f"> {self.frame}")
        line = linecache.getline(self.frame.filename, self.frame.line).strip()
        if line:
            self.tell(f"-> {line}")

    def evaluate(self, text: str) -> tuple[bool, Any]:
        """(whether it worked, the value of an expression in the current frame)."""
        try:
            return True, eval(text, self.frame.globals, self.frame.locals)
        except Exception as error:
            self.tell("*** " + traceback.format_exception_only(error)[-1].strip())
            return False, None

    # ---- commands ----------------------------------------------------------------------------

    def emptyline(self) -> bool:
        """An empty line does nothing."""
        return False

    def default(self, line: str) -> None:
        """Anything else is an expression."""
        if line == "EOF":
            raise bdb.BdbQuit
        self.do_p(line.removeprefix("!"))

    def do_p(self, arg: str) -> None:
        """p expression: print its value."""
        worked, value = self.evaluate(arg)
        if worked:
            self.tell(repr(value))

    def do_print(self, arg: str) -> None:
        """print expression: print its value as str."""
        worked, value = self.evaluate(arg)
        if worked:
            self.tell(str(value))

    def do_pp(self, arg: str) -> None:
        """pp expression: pretty-print its value."""
        worked, value = self.evaluate(arg)
        if worked:
            self.tell(pprint.pformat(value))

    def do_locals(self, arg: str) -> None:
        """locals: print all local variables."""
        for name, value in self.frame.locals.items():
            self.tell(f"{name} = {value!r}")

    def do_up(self, arg: str) -> None:
        """up [n] (u): go to the frame that called this one."""
        self._move(arg, 1)

    def do_down(self, arg: str) -> None:
        """down [n] (d): go to the frame that this one called."""
        self._move(arg, -1)

    def _move(self, arg: str, direction: int) -> None:
        steps = int(arg) if arg.strip().isdigit() else 1
        target = self.at + direction * max(1, steps)
        if not 0 <= target < len(self.frames):
            self.tell("*** oldest frame" if direction > 0 else "*** newest frame")
            target = min(max(target, 0), len(self.frames) - 1)
            if target == self.at:
                return
        self.at = target
        self.show_place()

    def do_list(self, arg: str) -> None:
        """list [n] (l): show n lines of source before and after."""
        self.tell(self.frame.listing(int(arg) if arg.strip().isdigit() else _AROUND))

    def do_where(self, arg: str) -> None:
        """where (w, bt): show all frames, outermost first."""
        for i in reversed(range(len(self.frames))):
            self.tell(f"{'> ' if i == self.at else '  '}{self.frames[i]}")

    def do_continue(self, arg: str) -> bool:
        """continue (c): go on with the program."""
        return True

    def do_quit(self, arg: str) -> bool:
        """quit (q): end the program by raising bdb.BdbQuit."""
        raise bdb.BdbQuit

    def do_EOF(self, arg: str) -> bool:  # noqa: N802  (cmd.Cmd looks for this name)
        """End of input: quit."""
        self.tell("")
        raise bdb.BdbQuit

    do_u, do_d, do_l, do_c, do_q = do_up, do_down, do_list, do_continue, do_quit
    do_w = do_bt = do_where


__all__ = ["breakpoint"]
