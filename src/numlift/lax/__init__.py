"""One documented function an operation: what `numlift.numpy` and the other libraries stand on."""

from __future__ import annotations

from ..api.sharding import with_sharding_constraint
from . import linalg
from .arithmetic import (
    add,
    atan2,
    clamp,
    complex,
    div,
    max,
    min,
    mul,
    neg,
    nextafter,
    pow,
    rem,
    sub,
)
from .bits import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    clz,
    mulhi,
    population_count,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
)
from .branches import cond, platform_dependent, switch
from .compare import (
    eq,
    ge,
    gt,
    le,
    lt,
    ne,
    select,
    select_n,
)
from .composites import composite, dce_sink
from .conv import (
    conv,
    conv_general_dilated,
    conv_general_dilated_local,
    conv_general_dilated_patches,
    conv_transpose,
    conv_with_general_padding,
)
from .conv_shapes import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    conv_dimension_numbers,
    conv_general_permutations,
    conv_general_shape_tuple,
    conv_shape_tuple,
    conv_transpose_shape_tuple,
    padtype_to_pads,
)
from .dot import (
    DotAlgorithm,
    DotAlgorithmPreset,
    DotDimensionNumbers,
    Precision,
    PrecisionLike,
    batch_matmul,
    dot,
    dot_general,
)
from .elementwise import (
    AccuracyMode,
    RoundingMethod,
    Tolerance,
    abs,
    cbrt,
    ceil,
    exp,
    exp2,
    expm1,
    floor,
    integer_pow,
    is_finite,
    log,
    log1p,
    logistic,
    reciprocal,
    round,
    rsqrt,
    sign,
    sqrt,
    square,
)
from .fft import FftType, fft
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
from .loops import map, scan
from .parallel import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pbroadcast,
    pcast,
    pmax,
    pmean,
    pmin,
    ppermute,
    pshuffle,
    psum,
    psum_scatter,
    pswapaxes,
)
from .ragged import RaggedDotDimensionNumbers, ragged_dot, ragged_dot_general
from .ragged_exchange import ragged_all_to_all
from .random_bits import RandomAlgorithm, rng_bit_generator, rng_uniform
from .reductions import (
    argmax,
    argmin,
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
)
from .representation import (
    bitcast_convert_type,
    conj,
    convert_element_type,
    dtype,
    empty,
    full,
    full_like,
    imag,
    optimization_barrier,
    real,
    reduce_precision,
    stop_gradient,
)
from .scaled import scaled_dot
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
from .solvers import custom_linear_solve, custom_root
from .sorting import (
    approx_max_k,
    approx_min_k,
    associative_scan,
    sort,
    sort_key_val,
    top_k,
)
from .special import (
    bessel_i0e,
    bessel_i1e,
    betainc,
    digamma,
    erf,
    erf_inv,
    erfc,
    igamma,
    igamma_grad_a,
    igammac,
    lgamma,
    polygamma,
    random_gamma_grad,
    zeta,
)
from .stacking import broadcast_like, shape_as_value, stack, stage, unstack
from .trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from .while_loops import fori_loop, while_loop
from .windows import reduce_window, reduce_window_shape_tuple
