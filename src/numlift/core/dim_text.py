"""Text of symbolic sizes, with brackets around it where programs are written."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .dim_terms import Mono

OPEN, CLOSE = (
    "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}",
    "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}",
)
_marked: ContextVar[bool] = ContextVar("numlift_marked_dims", default=False)
text_is_marked = _marked.get


class marked_dims:
    """``with marked_dims():`` the text of a `Dim` stands in brackets, so that it is found again."""

    def __enter__(self) -> None:
        self.token = _marked.set(True)

    def __exit__(self, *exc: object) -> None:
        _marked.reset(self.token)


def mono_text(mono: Mono) -> str:
    """``b^2*k``."""
    return "*".join([a.text if p == 1 else f"{a.text}^{p}" for a, p in mono])


def terms_text(terms: Iterable[tuple[Mono, int]]) -> str:
    """``2*b - k + 1``."""
    text = ""
    for mono, c in terms:
        size = abs(c)
        body = mono_text(mono)
        if size != 1 or not body:
            body = f"{size}*{body}" if body else str(size)
        if not text:
            text = f"-{body}" if c < 0 else body
        else:
            text += f" - {body}" if c < 0 else f" + {body}"
    return text
