"""Pictures of how an array is split over devices."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core.tracing import Tracer
from ..errors import ArgumentError, ShardingError, explain
from ..sharding.base import Sharding
from .array import Array

_SETS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")


def visualize_array_sharding(arr: Array, **options: Any) -> None:
    """Print which device holds which part of a one- or two-dimensional array.

    Args:
        arr: the array.
        **options: as in `visualize_sharding`.

    Returns:
        None.

    Raises:
        ArgumentError: the package `rich` is not installed, or `arr` is not an array on devices.
        ShardingError: the array has another number of dimensions.

    Example:
        >>> import numlift as nl
        >>> x = nl.device_put(nl.numpy.ones((2, 2)), nl.devices("cpu")[0])
        >>> nl.debug.visualize_array_sharding(x, use_color=False)
        ┌────────────┐
        │            │
        │   CPU 0    │
        │            │
        └────────────┘
    """
    if not isinstance(arr, Array):
        raise ArgumentError(
            explain(
                "visualize_array_sharding",
                "a traced value has no devices yet"
                if isinstance(arr, Tracer)
                else f"{type(arr).__name__} is not an array on devices",
                {"arr": arr},
                try_="inspect_array_sharding(x, callback=print) inside jit"
                if isinstance(arr, Tracer)
                else "device_put(arr, sharding)",
            )
        )
    visualize_sharding(arr.shape, arr.sharding, **options)


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Callable[[int], str] | None = None,
) -> None:
    """Print which device holds which part of an array of this shape.

    Devices with the same part share a box. Needs the package `rich`.

    Args:
        shape: shape of the array, one or two dimensions.
        sharding: its sharding.
        use_color: False prints boxes without colours.
        scale: width of the picture, relative.
        min_width: least number of characters of a box.
        max_width: most characters of the whole picture.
        color_map: number of a box -> colour as `rich` names it.

    Returns:
        None.

    Raises:
        ArgumentError: the package `rich` is not installed.
        ShardingError: the shape has no or more than two dimensions, or does not divide evenly.

    Example:
        >>> import numlift as nl
        >>> whole = nl.sharding.SingleDeviceSharding(nl.devices("cpu")[0])
        >>> nl.debug.visualize_sharding((8,), whole, use_color=False)
        ┌────────────┐
        │            │
        │   CPU 0    │
        │            │
        └────────────┘
    """
    rich = _rich()
    shape = tuple(shape)
    if len(shape) not in (1, 2):
        raise ShardingError(
            explain(
                "visualize_sharding",
                f"can draw arrays of 1 or 2 dimensions, not {len(shape)}",
                {"shape": shape},
                try_="a slice of the array, or x.addressable_shards",
            )
        )
    boxes, names = _boxes(shape, sharding)
    rows, columns = len(boxes), len(boxes[0])
    longest = max(len(text) for row in boxes for text in row)
    width = max(min_width, longest + 2, round(12 * scale))
    width = max(min(width, (max_width - 1) // columns - 1), 1)
    color = color_map or (lambda i: _SETS[i % len(_SETS)])
    table = rich["table"].Table(
        show_header=False, show_lines=True, padding=0, box=rich["box"].SQUARE, pad_edge=False
    )
    for _ in range(columns):
        table.add_column(width=width, justify="center", no_wrap=False)
    for r in range(rows):
        cells = []
        for c in range(columns):
            style = f"on {color(names[boxes[r][c]])}" if use_color else ""
            body = rich["align"].Align.center(boxes[r][c], vertical="middle")
            cells.append(rich["padding"].Padding(body, (1, 0), style=style))
        table.add_row(*cells)
    console = rich["console"].Console(
        width=max(max_width, 1), no_color=not use_color, highlight=False
    )
    console.print(table)


def _rich() -> dict[str, Any]:
    """The modules of `rich`, which is only needed for pictures."""
    try:
        names = ("align", "box", "console", "padding", "table")
        return {name: importlib.import_module(f"rich.{name}") for name in names}
    except ImportError as error:
        raise ArgumentError(
            explain(
                "visualize_sharding",
                "pictures of shardings need the package `rich`",
                try_="pip install rich",
            )
        ) from error


def _boxes(shape: tuple[int, ...], sharding: Sharding) -> tuple[list[list[str]], dict[str, int]]:
    """Text of each box, by row and column, and a number for each different text."""
    sharding.shard_shape(shape)
    tiling = sharding.tiling(len(shape))
    rows, columns = (1, *tiling.counts)[-2:]
    held: dict[tuple[int, ...], list[int]] = {}
    for device, coords in zip(sharding.device_order, tiling.coords, strict=True):
        held.setdefault((0, *coords)[-2:], []).append(device.id)
    platform = sharding.device_order[0].platform.upper()
    boxes = [
        [f"{platform} {','.join(map(str, sorted(held[r, c])))}" for c in range(columns)]
        for r in range(rows)
    ]
    names: dict[str, int] = {}
    for row in boxes:
        for text in row:
            names.setdefault(text, len(names))
    return boxes, names


def inspect_array_sharding(value: Any, *, callback: Callable[[Sharding], Any]) -> None:
    """Call `callback` with the sharding of each array of a tree, at once.

    Args:
        value: tree of arrays that are on devices.
        callback: takes a `Sharding`.

    Returns:
        None.

    Raises:
        ArgumentError: a leaf is traced (its sharding is not known yet) or no array; or `callback`
            is no function.

    Example:
        >>> import numlift as nl
        >>> x = nl.device_put({"w": nl.numpy.ones(3)}, nl.devices("cpu")[0])
        >>> nl.debug.inspect_array_sharding(x, callback=lambda s: print(s.num_devices))
        1
    """
    if not callable(callback):
        raise ArgumentError(
            explain(
                "inspect_array_sharding",
                "callback must be a function",
                {"callback": callback},
                try_="callback=print",
            )
        )
    for leaf in tree.raw_flatten(value)[0]:
        if not isinstance(leaf, Array):
            raise ArgumentError(
                explain(
                    "inspect_array_sharding",
                    "needs arrays on devices",
                    {"value": leaf},
                    try_="call it on the result, outside jit",
                )
            )
        callback(leaf.sharding)
