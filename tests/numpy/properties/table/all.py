"""All rows, and the public names without one with the reason."""

from __future__ import annotations

from tests.numpy.properties.rows import Table
from tests.numpy.properties.table import creating, elementwise, reductions, shaping

ROWS: Table = elementwise.TABLE | reductions.TABLE | shaping.TABLE | creating.TABLE


def exempt(reason: str, names: str) -> dict[str, str]:
    """The reason, for each name."""
    return dict.fromkeys(names.split(), reason)


EXEMPT = {
    **exempt(
        "text and files: tests/numpy/test_text.py, test_files.py, test_methods.py",
        "array_repr array_str get_printoptions set_printoptions printoptions "
        "load save savez fromfile savez_compressed savetxt loadtxt genfromtxt fromregex "
        "array2string base_repr binary_repr format_float_positional format_float_scientific",
    ),
    **exempt(
        "finds dtypes by Numlift's own rules: tests/core/test_promotion.py",
        "result_type promote_types finfo iinfo common_type min_scalar_type mintypecode typename",
    ),
    **exempt(
        "takes functions: tests/numpy/test_manipulation.py, test_ufuncs.py",
        "vectorize frompyfunc",
    ),
    **exempt(
        "changes an operand in NumPy: tests/numpy/test_putting.py, test_at.py",
        "place put put_along_axis fill_diagonal",
    ),
    **exempt(
        "asks about memory, or is asarray here: tests/numpy/test_host_made.py",
        "asarray_chkfinite ascontiguousarray asfortranarray isfortran require "
        "may_share_memory shares_memory",
    ),
    **exempt("gives a plan, as text: tests/numpy/test_einsum.py", "einsum_path"),
    **exempt("rank-0 arrays are scalars here: tests/numpy/test_creation.py", "isscalar"),
    **exempt(
        "which elements of equal parts come first is free: tests/numpy/test_sorting.py",
        "argpartition",
    ),
    **exempt("takes another library's array: tests/api/test_dlpack.py", "from_dlpack"),
}
