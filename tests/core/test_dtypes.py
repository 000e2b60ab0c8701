"""Dtypes: promotion against a table measured with JAX 0.10.2, kinds, limits, scalar types, keys."""

import pickle
import warnings

import ml_dtypes
import numpy as np
import pytest

import numlift as nl
from numlift import errors
from numlift.core import dtypes

# Promotion of all pairs as JAX 0.10.2 does it. One character a node, "." for an error; a result of
# "S", "T", "U" is a weak int, float, complex.
NAMES = (
    "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float4_e2m1fn "
    "float8_e3m4 float8_e4m3 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu bfloat16 float16 float32 float64 complex64 complex128 int "
    "float complex"
)
NODES = NAMES.split()
CODES = "0123456789ABCDEFGHIJKLMNOPQRSTU"
TABLE_32 = (
    "0123455789ABBDEFGHIJKLMNOOQQSTU",
    "11..........................1..",
    "2.2.........................2..",
    "3..3455..4555DEFGHIJKLMNOOQQ3TU",
    "4..4455..4555DEFGHIJKLMNOOQQ4TU",
    "5..5555..5555DEFGHIJKLMNOOQQ5TU",
    "5..5555..5555DEFGHIJKLMNOOQQ5TU",
    "7......7....................7..",
    "8.......8...................8..",
    "9..4455..9ABBDEFGHIJKLMNOOQQ9TU",
    "A..5555..AABBDEFGHIJKLMNOOQQATU",
    "B..5555..BBBBDEFGHIJKLMNOOQQBTU",
    "B..5555..BBBBDEFGHIJKLMNOOQQBTU",
    "D..DDDD..DDDDD..............DD.",
    "E..EEEE..EEEE.E.............EE.",
    "F..FFFF..FFFF..F............FF.",
    "G..GGGG..GGGG...G...........GG.",
    "H..HHHH..HHHH....H..........HH.",
    "I..IIII..IIII.....I.........II.",
    "J..JJJJ..JJJJ......J........JJ.",
    "K..KKKK..KKKK.......K.......KK.",
    "L..LLLL..LLLL........L......LL.",
    "M..MMMM..MMMM.........MOOOQQMMQ",
    "N..NNNN..NNNN.........ONOOQQNNQ",
    "O..OOOO..OOOO.........OOOOQQOOQ",
    "O..OOOO..OOOO.........OOOOQQOOQ",
    "Q..QQQQ..QQQQ.........QQQQQQQQQ",
    "Q..QQQQ..QQQQ.........QQQQQQQQQ",
    "S123455789ABBDEFGHIJKLMNOOQQSTU",
    "T..TTTT..TTTTDEFGHIJKLMNOOQQTTU",
    "U..UUUU..UUUU.........QQQQQQUUU",
)
TABLE_64 = (
    "0123456789ABCDEFGHIJKLMNOPQRSTU",
    "11..........................1..",
    "2.2.........................2..",
    "3..3456..456TDEFGHIJKLMNOPQR3TU",
    "4..4456..456TDEFGHIJKLMNOPQR4TU",
    "5..5556..556TDEFGHIJKLMNOPQR5TU",
    "6..6666..666TDEFGHIJKLMNOPQR6TU",
    "7......7....................7..",
    "8.......8...................8..",
    "9..4456..9ABCDEFGHIJKLMNOPQR9TU",
    "A..5556..AABCDEFGHIJKLMNOPQRATU",
    "B..6666..BBBCDEFGHIJKLMNOPQRBTU",
    "C..TTTT..CCCCDEFGHIJKLMNOPQRCTU",
    "D..DDDD..DDDDD..............DD.",
    "E..EEEE..EEEE.E.............EE.",
    "F..FFFF..FFFF..F............FF.",
    "G..GGGG..GGGG...G...........GG.",
    "H..HHHH..HHHH....H..........HH.",
    "I..IIII..IIII.....I.........II.",
    "J..JJJJ..JJJJ......J........JJ.",
    "K..KKKK..KKKK.......K.......KK.",
    "L..LLLL..LLLL........L......LL.",
    "M..MMMM..MMMM.........MOOPQRMMQ",
    "N..NNNN..NNNN.........ONOPQRNNQ",
    "O..OOOO..OOOO.........OOOPQROOQ",
    "P..PPPP..PPPP.........PPPPRRPPR",
    "Q..QQQQ..QQQQ.........QQQRQRQQQ",
    "R..RRRR..RRRR.........RRRRRRRRR",
    "S123456789ABCDEFGHIJKLMNOPQRSTU",
    "T..TTTT..TTTTDEFGHIJKLMNOPQRTTU",
    "U..UUUU..UUUU.........QQQRQRUUU",
)
PYTHON = {"int": 1, "float": 1.0, "complex": 1j}


def code_of(a, b):
    try:
        dtype, weak = dtypes.result_type(
            PYTHON.get(a, a), PYTHON.get(b, b), return_weak_type_flag=True
        )
    except errors.TypePromotionError:
        return "."
    name = dtype.name.rstrip("0123456789") if weak else dtype.name
    return CODES[NODES.index(name)]


@pytest.mark.parametrize(("x64", "table"), [(False, TABLE_32), (True, TABLE_64)])
def test_promotion_of_all_pairs(x64, table):
    with nl.enable_x64(x64):
        for a, row in zip(NODES, table, strict=True):
            assert "".join(code_of(a, b) for b in NODES) == row, a


def test_promotion_is_commutative_and_joins_three():
    assert dtypes.result_type("int8", "uint8", "bfloat16") == dtypes.bfloat16
    assert dtypes.result_type("bfloat16", "float16", "int32") == np.float32
    assert dtypes.result_type("float16", 1, 2.0, 3j) == np.complex64
    assert dtypes.result_type(int, "int8") == np.int8
    assert dtypes.result_type(float, "bfloat16") == dtypes.bfloat16


def test_promote_types_does_not_narrow():
    assert dtypes.promote_types("int64", "int8") == np.int64
    assert dtypes.promote_types("int32", "uint32") == np.int64
    assert dtypes.promote_types(int, float) == np.float64
    assert dtypes.promote_types("bfloat16", float) == dtypes.bfloat16
    assert dtypes.promote_types(bool, int) == np.int64


def test_weak_results():
    assert dtypes.result_type(1, 2.0, return_weak_type_flag=True) == (np.float32, True)
    assert dtypes.result_type(True, True, return_weak_type_flag=True) == (np.bool_, False)
    assert dtypes.result_type("int32", 2.0, return_weak_type_flag=True) == (np.float32, True)
    pair = ((np.dtype("int32"), True), (np.dtype("float32"), False))
    assert dtypes.result_type_of(pair) == (np.float32, False)
    assert dtypes.result_type_of([(np.dtype("bfloat16"), True), (np.dtype("int32"), True)]) == (
        dtypes.bfloat16,
        True,
    )


def test_strict_promotion():
    with nl.numpy_dtype_promotion("strict"):
        assert dtypes.result_type("float32", 1) == np.float32
        assert dtypes.result_type("complex64", 1.0) == np.complex64
        assert dtypes.result_type("int8", "int8") == np.int8
        assert dtypes.result_type("float8_e5m2", 1.0) == dtypes.float8_e5m2
        for pair in (("int32", "float32"), ("bool", 1), ("float32", "bfloat16"), ("int8", 1.0)):
            with pytest.raises(errors.TypePromotionError, match="strict"):
                dtypes.result_type(*pair)


def test_promotion_errors_teach():
    with pytest.raises(ValueError, match="2 and 4 bits") as caught:
        dtypes.result_type("int4", "int8")
    assert "Try: x.astype('int8')" in str(caught.value)
    with pytest.raises(errors.TypePromotionError, match="4 and 8 bits"):
        dtypes.result_type("float8_e4m3fn", "float32")
    with pytest.raises(errors.ValueArgumentError, match="at least one"):
        dtypes.result_type()
    key = dtypes.KeyDType("threefry2x32")
    assert dtypes.result_type(key, key) is key
    with pytest.raises(errors.TypePromotionError, match="key<fry>"):
        dtypes.result_type(key, "float32")
    with pytest.raises(errors.TypePromotionError, match="float0"):
        dtypes.result_type(dtypes.float0, "float32")


def test_every_dtype_has_names_and_mlir():
    expected = {
        "bool": "i1", "int4": "i4", "uint4": "ui4", "int2": "i2", "uint2": "ui2", "int8": "i8",
        "uint8": "ui8", "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
        "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "float8_e3m4": "f8E3M4",
        "float8_e4m3": "f8E4M3", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
        "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2fnuz": "f8E5M2FNUZ",
        "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn": "f4E2M1FN", "complex64": "complex<f32>",
        "complex128": "complex<f64>",
    }  # fmt: skip
    for name, text in expected.items():
        assert dtypes.dtype_mlir(dtypes.as_dtype(name)) == text
        assert dtypes.dtype_short_name(dtypes.as_dtype(name)) == name
    assert len(dtypes.all_dtypes) == 28
    key = dtypes.KeyDType("rbg")
    assert dtypes.dtype_mlir(key) == "ui32"
    assert dtypes.dtype_short_name(key) == "key<rbg>"
    assert dtypes.dtype_mlir(dtypes.float0) == "i1"
    assert dtypes.dtype_short_name(dtypes.float0) == "float0"
    with pytest.raises(errors.DTypeError):
        dtypes.dtype_mlir(np.dtype(object))


@pytest.mark.parametrize("name", dtypes.jax_numpy_dtype)
def test_scalar_types(name):
    scalar = getattr(dtypes, name)
    dtype = scalar.dtype
    assert np.dtype(scalar) == dtype
    assert np.zeros(2, scalar).dtype == dtype
    assert scalar == dtype
    assert dtype == scalar
    assert scalar == dtype.type
    assert dtype.type == scalar
    assert hash(scalar) == hash(dtype.type)
    assert isinstance(dtype.type(1), scalar)
    assert pickle.loads(pickle.dumps(scalar)) is scalar
    assert dtypes.as_dtype(dtypes.dtype_short_name(dtype)) == dtype
    assert scalar != dtypes.float0
    assert dtypes.issubdtype(scalar, scalar)
    others = [s for s in dtypes.scalar_types.values() if s is not scalar]
    assert all(scalar != other for other in others)


def test_key_dtypes():
    key = dtypes.KeyDType("threefry2x32")
    assert key is dtypes.KeyDType("threefry2x32")
    assert (key.name, key.key_shape, key.itemsize, key.storage) == ("key<fry>", (2,), 8, np.uint32)
    assert dtypes.KeyDType("unsafe_rbg").name == "key<urbg>"
    assert key != np.dtype("float32")
    assert np.dtype("float32") != key
    assert key != dtypes.KeyDType("rbg")
    assert pickle.loads(pickle.dumps(key)) is key
    assert dtypes.as_dtype("key<fry>") is key
    assert dtypes.canonicalize_dtype(key, allow_extended=True) is key
    with pytest.raises(errors.DTypeError, match="key_data"):
        dtypes.canonicalize_dtype(key)
    with pytest.raises(errors.DTypeError, match="unknown generator"):
        dtypes.KeyDType("philox_that_is_not_there")
    with pytest.raises(errors.DTypeError, match="keys of shape"):
        dtypes.KeyDType("threefry2x32", (3,))


def test_issubdtype():
    yes = [
        (dtypes.bfloat16, np.floating), ("float8_e5m2", np.inexact), ("float4_e2m1fn", np.number),
        ("int4", np.signedinteger), ("uint2", np.unsignedinteger), ("int2", np.integer),
        ("bfloat16", np.generic), ("bfloat16", "bfloat16"), (float, np.floating),
        (np.float32, np.floating), (dtypes.KeyDType("rbg"), dtypes.prng_key),
        (dtypes.KeyDType("rbg"), dtypes.extended), (dtypes.KeyDType("rbg"), np.generic),
        (dtypes.KeyDType("rbg"), dtypes.KeyDType("rbg")), ("complex64", np.inexact),
        ("bool", np.bool_), (dtypes.float0, np.void), (np.floating, np.inexact),
    ]  # fmt: skip
    no = [
        ("uint4", np.signedinteger), ("bfloat16", np.integer), ("float32", float),
        ("bfloat16", np.float32), (dtypes.KeyDType("rbg"), np.number), ("bool", np.number),
        ("float32", dtypes.prng_key), (dtypes.float0, np.floating), ("bfloat16", float),
        (dtypes.KeyDType("rbg"), dtypes.KeyDType("threefry2x32")),
    ]  # fmt: skip
    for a, b in yes:
        assert dtypes.issubdtype(a, b), (a, b)
    for a, b in no:
        assert not dtypes.issubdtype(a, b), (a, b)


def test_isdtype():
    assert dtypes.isdtype("bfloat16", "real floating")
    assert dtypes.isdtype("int4", ("bool", "signed integer"))
    assert dtypes.isdtype("uint8", "integral")
    assert not dtypes.isdtype("complex64", "real floating")
    assert dtypes.isdtype("float32", np.float32)
    assert not dtypes.isdtype("bool", "numeric")
    with pytest.raises(errors.ValueArgumentError, match="kind of dtype"):
        dtypes.isdtype("float32", "floaty")


def test_limits():
    assert float(dtypes.finfo("float8_e4m3fn").max) == 448
    assert float(dtypes.finfo(dtypes.bfloat16).eps) == 0.0078125
    assert dtypes.finfo("complex64").bits == 32
    assert dtypes.finfo(1.5).dtype == np.float32
    assert (dtypes.iinfo("uint2").max, dtypes.iinfo("int4").min) == (3, -8)
    assert dtypes.iinfo(np.int8).max == 127
    for name in dtypes.jax_numpy_dtype:
        scalar = dtypes.scalar_types[name]
        if dtypes.issubdtype(scalar, np.inexact):
            assert dtypes.finfo(scalar).bits <= 64
        elif name != "bool_":
            assert dtypes.iinfo(scalar).min <= 0 < dtypes.iinfo(scalar).max
    with pytest.raises(ValueError, match="int8 is not a floating"):
        dtypes.finfo("int8")
    with pytest.raises(ValueError, match="float32 is not an integer"):
        dtypes.iinfo("float32")


def test_canonicalize():
    assert dtypes.canonicalize_dtype(float) == np.float32
    assert dtypes.canonicalize_dtype(np.uint64) == np.uint32
    assert dtypes.canonicalize_dtype("complex128") == np.complex64
    assert dtypes.canonicalize_dtype(ml_dtypes.int4) == dtypes.int4
    with nl.enable_x64():
        assert dtypes.canonicalize_dtype(int) == np.int64
        assert dtypes.python_scalar_dtype(complex) == np.complex128
    for bad in (object, "S3", "datetime64[s]", np.longdouble, ">f4", "nope", 3, None):
        with pytest.raises(TypeError, match="dtype"):
            dtypes.canonicalize_dtype(bad)


def test_explicit_64_bits_warn():
    with pytest.warns(UserWarning, match="Explicitly requested dtype int64") as caught:
        assert dtypes.user_dtype("int64", "zeros") == np.int32
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dtypes.user_dtype(int, "zeros") == np.int32
        assert dtypes.user_dtype("float32", "zeros") == np.float32
        with nl.enable_x64():
            assert dtypes.user_dtype("int64", "zeros") == np.int64


def test_values():
    class Half(float):
        pass

    assert dtypes.dtype_of(1) == np.int32
    assert dtypes.dtype_of(True) == np.bool_
    assert dtypes.dtype_of(np.ones(2)) == np.float32
    assert dtypes.dtype_of(np.int8(1)) == np.int8
    assert dtypes.dtype_of(Half(1)) == np.float32
    assert dtypes.is_weakly_typed(1)
    assert dtypes.is_weakly_typed(Half(1))
    assert not dtypes.is_weakly_typed(True)
    assert not dtypes.is_weakly_typed(np.float64(1))
    assert not dtypes.is_weakly_typed(np.ones(2))
    assert dtypes.is_python_scalar(1j)
    assert not dtypes.is_python_scalar(np.float64(1))
    assert dtypes.scalar_type_of(np.ones(2, np.int8)) is int
    assert dtypes.scalar_type_of(dtypes.bfloat16) is float
    assert dtypes.scalar_type_of(1j) is complex
    assert dtypes.scalar_type("bool") is dtypes.bool_


def test_tangent_dtype():
    assert dtypes.tangent_dtype("bfloat16") == dtypes.bfloat16
    assert dtypes.tangent_dtype("complex64") == np.complex64
    assert dtypes.tangent_dtype("int32") == dtypes.float0
    assert dtypes.tangent_dtype(bool) == dtypes.float0
    assert dtypes.tangent_dtype(dtypes.KeyDType("rbg")) == dtypes.float0
    assert dtypes.float0 == np.dtype([("float0", np.void, 0)])
