"""Checks of derivatives against finite differences, for tests of your own functions."""

from __future__ import annotations

from .api.check_derivatives import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]


def __dir__() -> list[str]:
    return sorted(__all__)
