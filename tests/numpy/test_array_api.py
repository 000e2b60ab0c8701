"""The array API standard: names, signatures, values and dtypes, against `array_api_strict`.

`array_api_strict` is the reference implementation of the standard: it has exactly its functions,
with exactly their parameters. Every function of it runs here on random arrays of every dtype that
it takes, and the same call runs in `numlift.numpy`.
"""

from __future__ import annotations

import inspect
import re
import zlib
from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import numlift as nl
import numlift.numpy as nlnp
from numlift import errors

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the reference
NOT_OF_THE_STANDARD = {
    "ArrayAPIStrictFlags",
    "Device",
    "__version__",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}
OTHER_DEFAULTS = {"step", "keepdims", "copy", "correction", "norm", "device"}
"""Parameters for which None, or no copy (arrays are immutable), means the standard's default."""
SPACES: dict[str, tuple[Any, Any]] = {
    "": (strict, nlnp),
    "linalg.": (strict.linalg, nlnp.linalg),
    "fft.": (strict.fft, nlnp.fft),
}
NAMES = sorted(
    prefix + name
    for prefix, (space, _) in SPACES.items()
    for name in space.__all__
    if name not in NOT_OF_THE_STANDARD and not (prefix == "" and name in ("linalg", "fft"))
)


def both(name: str) -> tuple[Any, Any]:
    prefix, _, base = name.rpartition(".")
    theirs, ours = SPACES[prefix + "." if prefix else ""]
    return getattr(theirs, base), getattr(ours, base)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_with_the_parameters_of_the_standard(name: str) -> None:
    theirs, ours = both(name)
    if not inspect.isfunction(theirs):
        return
    accepted = inspect.signature(ours).parameters
    for parameter in inspect.signature(theirs).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            assert any(p.kind is p.VAR_POSITIONAL for p in accepted.values()), parameter
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            assert any(p.kind is not p.KEYWORD_ONLY for p in accepted.values()), parameter
        else:
            assert parameter.name in accepted, parameter
            if parameter.name not in OTHER_DEFAULTS and parameter.default is not parameter.empty:
                assert accepted[parameter.name].default == parameter.default, parameter


def test_versions() -> None:
    assert nlnp.__array_api_version__ == strict.__array_api_version__ == "2025.12"
    x = nlnp.ones(2)
    assert x.__array_namespace__() is nlnp
    assert x.__array_namespace__(api_version="2024.12") is nlnp
    with pytest.raises(errors.ValueArgumentError, match="not known"):
        x.__array_namespace__(api_version="1999.12")


def test_inspection() -> None:
    info, theirs = nlnp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.capabilities() == theirs.capabilities()
    assert info.default_device() in info.devices()
    assert type(info.devices()) is tuple  # a list before version 2025.12
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    kinds += ["complex floating", "numeric"]
    for x64 in (False, True):
        with nl.enable_x64(x64):
            for kind in [None, *kinds, ("bool", "real floating")]:
                names = set(theirs.dtypes(kind=kind))
                wide = {"int64", "uint64", "float64", "complex128"}
                assert set(info.dtypes(kind=kind)) == (names if x64 else names - wide), kind
            assert set(info.default_dtypes()) == set(theirs.default_dtypes())
            assert info.default_dtypes()["real floating"] == nlnp.ones(1).dtype
            assert info.default_dtypes()["integral"] == nlnp.arange(1).dtype
            assert info.default_dtypes()["complex floating"] == nlnp.asarray(1j).dtype
            assert info.default_dtypes()["indexing"] == nlnp.argmax(nlnp.ones(1)).dtype
    with pytest.raises(errors.ValueArgumentError, match="unknown kind 'real'"):
        info.dtypes(kind="real")


def test_attributes_and_methods_of_arrays() -> None:
    x, y = nlnp.ones((2, 3)), strict.ones((2, 3))
    # Operators such as += fall back to +: the name is bound to the result, which is immutable.
    in_place = [f"__i{m}__" for m in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")]
    in_place += [f"__i{m}__" for m in ("matmul", "and", "or", "xor", "lshift", "rshift")]
    members = [m for m in dir(type(y)) if not m.startswith("_") or m.startswith("__")]
    missing = {m for m in members if not hasattr(type(x), m)} - {"__weakref__", "__dict__"}
    assert missing - {"__buffer__"} == set(in_place)
    x += 1
    assert float(x.sum()) == 12
    assert x.to_device(x.device) is not None
    assert x.mT.shape == (3, 2)


# ---- every function on random arrays ---------------------------------------------------------

BOOL, INTS, REALS = ["bool"], ["int8", "int32", "int64", "uint8", "uint32"], ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMERIC, FLOATS = [*INTS, *REALS, *COMPLEX], [*REALS, *COMPLEX]


def draw(name: str, dtype: str, shape: tuple[int, ...], positive: bool = False) -> np.ndarray:
    rng = np.random.default_rng(zlib.crc32(f"{name} {dtype} {shape}".encode()))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if "int" in dtype:
        low = 1 if positive or dtype.startswith("u") else -6
        values = rng.integers(low, 7, shape)
        return np.where(values == 0, 1, values).astype(dtype)
    values = rng.uniform(0.2 if positive else -2, 2, shape)
    if "complex" in dtype:
        values = values + 1j * rng.uniform(-2, 2, shape)
    return values.astype(dtype)


ELEMENTWISE: dict[str, tuple[int, list[str]]] = {
    **dict.fromkeys(["abs", "square", "negative", "positive", "sign"], (1, NUMERIC)),
    **dict.fromkeys(["exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"], (1, FLOATS)),
    **dict.fromkeys(["atan", "asinh", "log", "log1p", "log2", "log10", "sqrt"], (1, FLOATS)),
    **dict.fromkeys(["acos", "asin", "atanh", "acosh"], (1, COMPLEX)),
    "reciprocal": (1, FLOATS),
    **dict.fromkeys(["ceil", "floor", "trunc", "round"], (1, [*INTS, *REALS])),
    **dict.fromkeys(["isfinite", "isinf", "isnan"], (1, NUMERIC)),
    **dict.fromkeys(["real", "imag", "conj"], (1, COMPLEX)),
    "signbit": (1, REALS),
    "logical_not": (1, BOOL),
    "bitwise_invert": (1, [*BOOL, *INTS]),
    **dict.fromkeys(["add", "subtract", "multiply"], (2, NUMERIC)),
    "divide": (2, FLOATS),
    **dict.fromkeys(["floor_divide", "remainder", "maximum", "minimum"], (2, [*INTS, *REALS])),
    **dict.fromkeys(["atan2", "copysign", "hypot", "logaddexp", "nextafter"], (2, REALS)),
    **dict.fromkeys(["equal", "not_equal"], (2, [*BOOL, *NUMERIC])),
    **dict.fromkeys(["less", "less_equal", "greater", "greater_equal"], (2, [*INTS, *REALS])),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], (2, BOOL)),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], (2, [*BOOL, *INTS])),
}
POSITIVE = {
    "pow": (2, NUMERIC),
    "bitwise_left_shift": (2, INTS),
    "bitwise_right_shift": (2, INTS),
}
ARRAY, ROW, INDICES = (2, 3), (3,), np.array([1, 0, 1])
ANY, REAL = [*BOOL, *NUMERIC], [*INTS, *REALS]
X, Y = "x", "y"
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any], list[str]]]] = {
    "all": [((X,), {"axis": 1}, ANY), ((X,), {"keepdims": True}, ANY)],
    "any": [((X,), {"axis": (0, 1)}, ANY)],
    "arange": [((5,), {}, ["bool"]), ((1.0, 3.0, 0.5), {}, BOOL), ((7, 1, -2), {}, BOOL)],
    "argmax": [((X,), {"axis": 1, "keepdims": True}, REAL), ((X,), {}, REAL)],
    "argmin": [((X,), {"axis": 0}, REAL)],
    "argsort": [((X,), {"axis": 0, "descending": True}, REAL), ((X,), {}, REAL)],
    "asarray": [((X,), {"copy": True}, ANY)],
    "astype": [((X, "float64"), {}, REAL)],
    "broadcast_arrays": [((X, "row"), {}, ANY)],
    "broadcast_shapes": [(((2, 1), (1, 3)), {}, BOOL)],
    "broadcast_to": [((X, (4, 2, 3)), {}, ANY)],
    "can_cast": [(("int32", "int64"), {}, BOOL), (("int64", "int8"), {}, BOOL)],
    "clip": [((X, -1, 1), {}, ["int8", "int32", "int64", *REALS]), ((X,), {"max": 1}, REAL)],
    "concat": [(([X, Y],), {"axis": None}, ANY), (([X, Y],), {"axis": 1}, ANY)],
    "count_nonzero": [((X,), {"axis": 1}, ANY), ((X,), {"keepdims": True}, ANY)],
    "cumulative_prod": [((X,), {"axis": 1, "include_initial": True}, NUMERIC)],
    "cumulative_sum": [
        ((X,), {"axis": 0}, NUMERIC),
        ((X,), {"axis": 1, "include_initial": True}, NUMERIC),
    ],
    "diff": [((X,), {}, NUMERIC), ((X,), {"axis": 0, "prepend": Y}, NUMERIC)],
    "empty": [],  # its values are not defined; below
    "empty_like": [],
    "expand_dims": [((X,), {"axis": (0, 3)}, ANY), ((X,), {"axis": -1}, ANY)],
    "eye": [((3,), {}, BOOL), ((3, 4), {"k": 1, "dtype": "int32"}, BOOL)],
    "finfo": [],
    "flip": [((X,), {}, ANY), ((X,), {"axis": -1}, ANY)],
    "from_dlpack": [],
    "full": [(((2, 2), 3), {}, BOOL), (((2,), 1.5), {"dtype": "float32"}, BOOL)],
    "full_like": [((X, 1), {}, ANY)],
    "iinfo": [],
    "isdtype": [
        (("float32", "real floating"), {}, BOOL),
        (("int8", ("bool", "signed integer")), {}, BOOL),
        (("uint8", "signed integer"), {}, BOOL),
    ],
    "isin": [((X, Y), {}, INTS)],
    "linspace": [((0.0, 1.0), {"num": 5}, BOOL), ((0, 4), {"num": 4, "endpoint": False}, BOOL)],
    "matmul": [((X, "yT"), {}, NUMERIC), ((X, "row"), {}, NUMERIC)],
    "matrix_transpose": [((X,), {}, ANY)],
    "max": [((X,), {"axis": 0}, REAL)],
    "mean": [((X,), {"axis": 0, "keepdims": True}, FLOATS)],
    "meshgrid": [(("row", "row"), {"indexing": "ij"}, NUMERIC)],
    "min": [((X,), {}, REAL)],
    "moveaxis": [((X, 0, 1), {}, ANY)],
    "nonzero": [((X,), {}, ANY)],
    "ones": [((3,), {}, BOOL), (((2, 3),), {"dtype": "complex64"}, BOOL)],
    "ones_like": [((X,), {}, ANY)],
    "permute_dims": [((X, (1, 0)), {}, ANY)],
    "prod": [((X,), {"axis": 1}, NUMERIC)],
    "repeat": [((X, 2), {"axis": 1}, ANY), ((X, 3), {}, ANY)],
    "reshape": [((X, (3, 2)), {}, ANY), ((X, (-1,)), {"copy": True}, ANY)],
    "result_type": [((X, Y), {}, ANY)],
    "roll": [((X, 1), {"axis": 1}, ANY), ((X, (1, 2)), {"axis": (0, 1)}, ANY), ((X, 2), {}, ANY)],
    "searchsorted": [(("sorted", "row"), {}, REAL), (("sorted", "row"), {"side": "right"}, REAL)],
    "sort": [((X,), {"axis": 0, "descending": True}, REAL), ((X,), {}, REAL)],
    "squeeze": [(("one",), {"axis": 0}, ANY)],
    "stack": [(([X, Y],), {"axis": -1}, ANY)],
    "std": [((X,), {"axis": 1, "correction": 1.0}, REALS)],
    "sum": [((X,), {"axis": (0, 1)}, NUMERIC), ((X,), {"keepdims": True}, NUMERIC)],
    "take": [((X, "indices"), {"axis": 1}, ANY), (("row", "indices"), {}, ANY)],
    "take_along_axis": [((X, "pairs"), {"axis": 1}, ANY)],
    "tensordot": [((X, Y), {"axes": 2}, NUMERIC), ((X, Y), {"axes": ((0,), (0,))}, NUMERIC)],
    "tile": [((X, (2, 1)), {}, ANY)],
    "tril": [((X,), {"k": -1}, NUMERIC)],
    "triu": [((X,), {"k": 1}, NUMERIC)],
    "unique_all": [((X,), {}, ANY)],
    "unique_counts": [((X,), {}, ANY)],
    "unique_inverse": [((X,), {}, ANY)],
    "unique_values": [((X,), {}, ANY)],
    "unstack": [((X,), {"axis": 1}, ANY)],
    "var": [((X,), {"correction": 0.5}, REALS)],
    "vecdot": [((X, Y), {}, NUMERIC), ((X, Y), {"axis": -2}, NUMERIC)],
    "where": [(("mask", X, Y), {}, ANY)],
    "zeros": [((3,), {}, BOOL)],
    "zeros_like": [((X,), {"dtype": "int8"}, ANY)],
    "linalg.cholesky": [(("spd",), {}, FLOATS), (("spd",), {"upper": True}, FLOATS)],
    "linalg.cross": [((X, Y), {}, NUMERIC)],
    "linalg.det": [(("spd",), {}, FLOATS)],
    "linalg.diagonal": [((X,), {"offset": 1}, ANY)],
    "linalg.eig": [],  # up to order and phase; below
    "linalg.eigh": [],
    "linalg.eigvals": [],
    "linalg.eigvalsh": [(("spd",), {}, FLOATS)],
    "linalg.inv": [(("spd",), {}, FLOATS)],
    "linalg.matmul": [((X, "yT"), {}, NUMERIC)],
    "linalg.matrix_norm": [((X,), {}, FLOATS), ((X,), {"ord": 1, "keepdims": True}, FLOATS)],
    "linalg.matrix_power": [(("spd", 3), {}, FLOATS), (("spd", -1), {}, FLOATS)],
    "linalg.matrix_rank": [((X,), {}, FLOATS)],
    "linalg.matrix_transpose": [((X,), {}, ANY)],
    "linalg.outer": [(("row", "row"), {}, NUMERIC)],
    "linalg.pinv": [((X,), {}, FLOATS)],
    "linalg.qr": [],
    "linalg.slogdet": [(("spd",), {}, FLOATS)],
    "linalg.solve": [(("spd", "yT"), {}, FLOATS)],
    "linalg.svd": [],
    "linalg.svdvals": [((X,), {}, FLOATS)],
    "linalg.tensordot": [((X, Y), {}, NUMERIC)],
    "linalg.trace": [((X,), {"offset": 1}, NUMERIC)],
    "linalg.vecdot": [((X, Y), {}, NUMERIC)],
    "linalg.vector_norm": [((X,), {"axis": 1, "ord": 3}, FLOATS), ((X,), {}, FLOATS)],
    **{f"fft.{n}": [((X,), {}, COMPLEX)] for n in ("fft", "ifft", "fftn", "ifftn", "irfft")},
    **{f"fft.{n}": [((X,), {"norm": "ortho"}, REALS)] for n in ("rfft", "rfftn", "ihfft")},
    "fft.irfftn": [((X,), {}, COMPLEX)],
    "fft.hfft": [((X,), {"norm": "forward"}, COMPLEX)],
    "fft.fftfreq": [((5,), {"d": 0.5}, BOOL)],
    "fft.rfftfreq": [((5,), {}, BOOL)],
    "fft.fftshift": [((X,), {"axes": 1}, FLOATS)],
    "fft.ifftshift": [((X,), {}, FLOATS)],
}
CONSTANTS = {
    "e",
    "pi",
    "inf",
    "nan",
    "newaxis",
    "__array_namespace_info__",
    "__array_api_version__",
}
for names in ("bool", *NUMERIC, "int16", "uint16", "uint64"):
    CONSTANTS.add(names)


def operand(key: Any, name: str, dtype: str) -> Any:
    if isinstance(key, list):
        return [operand(k, name, dtype) for k in key]
    if not isinstance(key, str) or key in (*NUMERIC, "bool"):
        return key
    if key == "spd":
        a = draw(name, dtype, (3, 3))
        return (a @ a.conj().T + 3 * np.eye(3)).astype(dtype)
    if key == "yT":
        return draw(name + "y", dtype, (3, 2)) if "solve" not in name else draw(name, dtype, (3, 2))
    shapes = {X: ARRAY, Y: ARRAY, "row": ROW, "one": (1, 3), "sorted": (4,)}
    if key in shapes:
        found = draw(name + key, dtype, shapes[key], name in POSITIVE)
        return np.sort(found) if key == "sorted" else found
    special = {"mask": draw(name, "bool", ARRAY), "indices": INDICES, "pairs": INDICES[None] % 2}
    return special.get(key, key)


def converted(x: Any, space: Any) -> Any:
    if isinstance(x, np.ndarray):
        return space.asarray(x)
    if isinstance(x, list):
        return [converted(v, space) for v in x]
    if isinstance(x, str) and x in (*NUMERIC, "bool"):
        return getattr(space, x)
    return x


def leaves(x: Any) -> list[Any]:
    return [y for v in x for y in leaves(v)] if isinstance(x, (tuple, list)) else [x]


def compare(name: str, args: list[Any], kwargs: dict[str, Any], dtype: str) -> None:
    theirs, ours = both(name)
    call = [[converted(a, space) for a in args] for space in (strict, nlnp)]
    options = [{k: converted(v, space) for k, v in kwargs.items()} for space in (strict, nlnp)]
    expected = leaves(theirs(*call[0], **options[0]))
    found = leaves(ours(*call[1], **options[1]))
    tolerance = 2e-5 if dtype in ("float32", "complex64") else 1e-12
    for a, b in zip(found, expected, strict=True):
        if not isinstance(b, strict._array_object.Array):
            plain = isinstance(b, (bool, tuple, int))
            assert a == b if plain else np.dtype(a).name == b._canonical_name
            continue
        b = np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (name, args, a.dtype, b.dtype)
        np.testing.assert_allclose(np.asarray(a), b, rtol=tolerance, atol=tolerance, err_msg=name)


def some(dtypes: list[str], name: str) -> list[str]:
    """Three of the dtypes, others for each function; all functions together meet all dtypes."""
    start = zlib.crc32(name.encode())
    return sorted({dtypes[(start + 5 * i) % len(dtypes)] for i in range(3)})


def test_the_tables_name_every_function() -> None:
    known = {*ELEMENTWISE, *POSITIVE, *CALLS, *CONSTANTS}
    assert {n for n in NAMES if n not in known} == set()


@pytest.mark.parametrize("name", sorted({**ELEMENTWISE, **POSITIVE}))
def test_elementwise_functions_give_the_values_of_the_reference(name: str) -> None:
    nin, dtypes = {**ELEMENTWISE, **POSITIVE}[name]
    with nl.enable_x64(True):
        for dtype in some(dtypes, name):
            xs = [
                draw(f"{name}{i}", dtype, s, name in POSITIVE) for i, s in enumerate([ARRAY, ROW])
            ]
            if name in ("log", "log1p", "log2", "log10", "sqrt") and dtype in REALS:
                xs = [np.abs(x) for x in xs]
            compare(name, xs[:nin], {}, dtype)
            if nin == 2 and dtype != "bool" and "complex" not in dtype:
                compare(name, [xs[0], 2], {}, dtype)  # with a Python scalar


@pytest.mark.parametrize("name", sorted(n for n, calls in CALLS.items() if calls))
def test_other_functions_give_the_values_of_the_reference(name: str) -> None:
    with nl.enable_x64(True):
        for args, kwargs, dtypes in CALLS[name]:
            for dtype in some(dtypes, name):
                options = {k: operand(v, name + k, dtype) for k, v in kwargs.items()}
                compare(name, [operand(a, name, dtype) for a in args], options, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_decompositions_multiply_to_the_matrix(dtype: str) -> None:
    with nl.enable_x64(True):
        a = draw("decompositions", dtype, (3, 3))
        spd = nlnp.asarray(operand("spd", "decompositions", dtype))
        x = nlnp.asarray(a)
        tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-10
        close = lambda p, q: np.testing.assert_allclose(
            np.asarray(p), np.asarray(q), rtol=tolerance, atol=tolerance
        )
        q, r = nlnp.linalg.qr(x)
        close(q @ r, x)
        u, s, vh = nlnp.linalg.svd(x, full_matrices=False)
        close(u * s @ vh, x)
        w, v = nlnp.linalg.eigh(spd)
        close(v * w @ nlnp.conj(v.mT), spd)
        values, vectors = nlnp.linalg.eig(x)
        close(x @ vectors, vectors * values)
        close(nlnp.sort(nlnp.linalg.eigvals(x).real), nlnp.sort(values.real))


def test_several_arrays_come_in_a_tuple() -> None:  # in a list before version 2025.12
    for name in ("meshgrid", "broadcast_arrays"):
        for sizes in ((), (2,), (2, 1)):
            arrays = [converted(np.zeros(n), nlnp) for n in sizes]
            found = both(name)[1](*arrays)
            assert type(found) is tuple and len(found) == len(sizes), (name, sizes)


def test_creation_that_has_no_values_to_compare() -> None:
    assert nlnp.empty((2, 3), dtype=nlnp.int8).shape == (2, 3)
    assert nlnp.empty_like(nlnp.ones(2)).dtype == nlnp.float32
    assert nlnp.finfo(nlnp.float32).eps == strict.finfo(strict.float32).eps
    assert nlnp.iinfo(nlnp.int8).max == strict.iinfo(strict.int8).max
    x = np.arange(3.0, dtype=np.float32)
    assert nlnp.from_dlpack(x, copy=True).dtype == np.float32
    for name in ("e", "pi", "inf"):
        assert getattr(nlnp, name) == getattr(strict, name)
    assert nlnp.newaxis is None and nlnp.nan != nlnp.nan


# ---- where Numlift is other than the standard ------------------------------------------------

DEVIATIONS = Path(__file__).with_name("array_api_deviations.txt")
PAGE = Path(__file__).parents[2] / "docs" / "array_api.md"


def test_the_documented_deviations_are_those_given_to_the_suite() -> None:
    lines = [s for s in DEVIATIONS.read_text().splitlines() if s and not s.startswith("#")]
    assert len(set(lines)) == len(lines) and all(s.startswith("array_api_tests/") for s in lines)
    tests = {s.partition("[")[0].removeprefix("array_api_tests/") for s in lines}
    page = PAGE.read_text()
    assert set(re.findall(r"`(test_\w+\.py::\w+)`", page)) == tests
    assert f"{len(lines)} of its tests fail" in page


def test_deviations_are_as_documented() -> None:
    x = nlnp.asarray([1.0, 2.0])
    with pytest.raises(errors.ImmutableArrayError, match=r"x = x\.at\[0\]\.set\(3\.0\)"):
        x[0] = 3.0
    with pytest.raises(errors.ImmutableArrayError, match=r"x = x\.at\[\(\)\]\.set\(3\.0\)"):
        x[()] = 3.0
    assert isinstance(nlnp.finfo(nlnp.float32).eps, np.float32)
    ends, others = nlnp.asarray([np.inf, -np.inf, 2.0, -2.0]), nlnp.asarray([2, 2, -np.inf, np.inf])
    np.testing.assert_array_equal(nlnp.floor_divide(ends, others), [np.nan, np.nan, -1, -1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("jit", [False, True])
def test_zeros_have_the_sign_of_the_standard(dtype: str, jit: bool) -> None:
    run = nl.jit if jit else lambda f: f
    with nl.enable_x64(True):
        x, y = (
            nlnp.asarray([0.0, -0.0, 4, -4, 0, -0.0], dtype),
            nlnp.asarray([-2.0, 2, -2, 2, -np.inf, np.inf], dtype),
        )
        for found in (run(nlnp.remainder)(x, y), run(nlnp.divmod)(x, y)[1]):
            np.testing.assert_array_equal(found, np.zeros(6))
            np.testing.assert_array_equal(nlnp.signbit(found), [True, False] * 3)
        signs = run(nlnp.sign)(nlnp.asarray([0.0, -0.0, -3, np.nan], dtype))
        np.testing.assert_array_equal(signs.astype("float32"), [0, 0, -1, np.nan])
        assert not nlnp.signbit(signs[:2]).any()
    assert nlnp.sign(nlnp.asarray([-0.0 - 0.0j])).tolist() == [0j]


def test_remainders_that_are_zero_have_derivatives() -> None:
    for f in (nlnp.remainder, lambda x, y: nlnp.divmod(x, y)[1]):
        assert [float(d) for d in nl.grad(f, argnums=(0, 1))(-4.0, -2.0)] == [1, -2]
        assert float(nl.grad(nl.grad(lambda x, f=f: f(x * x, 2.0)))(2.0)) == 2
