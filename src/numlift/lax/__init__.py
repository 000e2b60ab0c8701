"""One documented function an operation: what `numlift.numpy` and the other libraries stand on."""

from __future__ import annotations

from .indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    gather,
    scatter,
    scatter_add,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from .shape import (
    broadcast,
    broadcast_in_dim,
    broadcast_shapes,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    concatenate,
    expand_dims,
    iota,
    pad,
    reshape,
    rev,
    split,
    squeeze,
    tile,
    transpose,
)
from .slicing import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    index_in_dim,
    index_take,
    slice,
    slice_in_dim,
)
