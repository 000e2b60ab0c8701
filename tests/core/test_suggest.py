"""The error for a traced condition shows the rewrite of the user's own line."""

from __future__ import annotations

from typing import Any

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


def assigns(x: Any) -> Any:
    if x > 0:
        y = x
    else:
        y = -x
    return y


def returns(x: Any) -> Any:
    if x > 0 and x < 3:
        return x
    return -x


def chain(x: Any) -> Any:
    if x > 2:
        y = 1
    elif x > 1:
        y = 2
    else:
        y = 3
    return y


def adds(x: Any) -> Any:
    if not x > 0:
        x += 1
    return x


def several(x: Any) -> Any:
    y = z = 0
    if x > 2:
        y = x + 1
        z = y * 2
    return y + z


def halves(x: Any) -> Any:
    while x > 1:
        x = x / 2
    return x


def counts(x: Any) -> Any:
    i = 0
    while x > 1:
        x = x / 2
        i += 1
    return i


def breaks(x: Any) -> Any:
    while x > 1:
        if x > 5:
            break
        x = x / 2
    return x


def asserts(x: Any) -> Any:
    assert x > 0, "negative"
    return np.sqrt(x)


ROWS: list[tuple[Any, list[str]]] = [
    (assigns, ["Try: y = np.where(x > 0, x, -x)", "y = nl.lax.cond(x > 0, lambda: x, lambda: -x)"]),
    (returns, ["return np.where((x > 0) & (x < 3), x, -x)"]),
    (chain, ["y = np.where(x > 2, 1, np.where(x > 1, 2, 3))"]),
    (adds, ["x = np.where(~(x > 0), x + 1, x)"]),
    (several, ["def then(y, z):", "y, z = nl.lax.cond(x > 2, then, otherwise, y, z)"]),
    (halves, ["x = nl.lax.while_loop(lambda x: x > 1, lambda x: x / 2, x)"]),
    (counts, ["def step(state):", "i, x = nl.lax.while_loop(go_on, step, (i, x))"]),
    (breaks, ["nl.lax.while_loop(lambda state: x > 1, step, state)"]),
    (asserts, ["nl.experimental.checkify.check(x > 0, 'negative')"]),
    (lambda x: x and x, ["np.where(x, x, x)"]),
    (lambda x: not x, ["np.logical_not(x)"]),
    (lambda x: 0 < x < 2, ["Try: (0 < x) & (x < 2)"]),
    (lambda x: 1 if x else 0, ["np.where(x, 1, 0)", "nl.lax.cond(x, lambda: 1, lambda: 0)"]),
    (lambda x: [y for y in (x,) if y > 0], ["np.where(y > 0, value, 0)"]),
    (lambda x: bool(x), ["np.where(condition, x, y)"]),
]


@pytest.mark.parametrize(("f", "texts"), ROWS)
def test_rewrite(f: Any, texts: list[str]) -> None:
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        nl.jit(f)(4.0)
    message = str(caught.value)
    for text in texts:
        assert text in message
    assert "autostage=True" in message


def test_vmap_does_not_offer_autostage() -> None:
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        nl.vmap(assigns)(np.ones(3))
    assert "np.where(x > 0, x, -x)" in str(caught.value)
    assert "autostage" not in str(caught.value)


def test_without_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return 1 if x else 0", scope)
    with pytest.raises(errors.TracerBoolConversionError, match=r"np\.where\(condition"):
        nl.jit(scope["f"])(1.0)
