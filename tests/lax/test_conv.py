"""Convolutions: helpers, transposed and local convolutions, errors."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest

import numlift as nl
from numlift import errors, lax

X = numpy.arange(5.0, dtype="f").reshape(1, 1, 5)
K = numpy.array([1, 2, 3], "f").reshape(1, 1, 3)
LAST = ("NHWC", "HWIO", "NHWC")
FIRST = ("NCH", "OIH", "NCH")


def ones(*shape, dtype="f"):
    return numpy.ones(shape, dtype)


def test_names_of_padding():
    assert lax.padtype_to_pads((5, 6), (3, 3), (2, 2), "SAME") == [(1, 1), (0, 1)]
    assert lax.padtype_to_pads((5, 6), (3, 2), (2, 2), "same_lower") == [(1, 1), (0, 0)]
    assert lax.padtype_to_pads((5, 6), (3, 2), (2, 2), "VALID") == [(0, 0), (0, 0)]
    npt.assert_array_equal(lax.conv(X, K, (2,), "SAME").ravel(), [3, 14, 11])
    npt.assert_array_equal(lax.conv_general_dilated(X, K, (1,), [(-1, -1)]).ravel(), [14])
    same = lax.conv_general_dilated(X, K, (1,), "SAME", rhs_dilation=(2,))
    npt.assert_array_equal(same.ravel(), [6, 11, 16, 7, 10])


def test_layouts():
    numbers = lax.conv_dimension_numbers((1, 1, 3, 3), (1, 1, 2, 2), LAST)
    assert numbers == ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    assert lax.conv_general_permutations(LAST) == tuple(numbers)
    plain = lax.conv_dimension_numbers((1, 1, 3, 3), (1, 1, 2, 2), None)
    assert plain == ((0, 1, 2, 3),) * 3
    assert lax.conv_dimension_numbers((1, 1), (1, 1), plain) is plain


@pytest.mark.parametrize(
    ("padding", "options", "wanted"),
    [
        ("SAME", {}, [3, 8, 14, 20, 11]),
        ("SAME", {"rhs_dilation": (2,)}, [6, 11, 16, 7, 10]),
        ("SAME", {"transpose_kernel": True}, [1, 4, 10, 16, 17]),
        ("VALID", {}, [0, 3, 8, 14, 20, 11, 4]),
        ("VALID", {"transpose_kernel": True}, [0, 1, 4, 10, 16, 17, 12]),
        ([(1, 2)], {}, [3, 8, 14, 20, 11, 4]),
        ([(1, 2)], {"use_consistent_padding": True}, [3, 8, 14, 20]),
        ([(1, 2)], {"strides": (2,), "use_consistent_padding": True},
         [0, 3, 2, 7, 4, 11, 6, 15]),
        ([(1, 2)], {"rhs_dilation": (2,), "use_consistent_padding": True},
         [3, 6, 11, 16, 7, 10]),
    ],
)  # fmt: skip
def test_transposed(padding, options, wanted):
    strides = options.pop("strides", (1,))
    found = lax.conv_transpose(X, K, strides, padding, dimension_numbers=FIRST, **options)
    npt.assert_array_equal(found.ravel(), wanted)


def test_transposed_sizes():
    assert lax.conv_transpose(ones(1, 5, 1), ones(3, 1, 1), (2,), "SAME").shape == (1, 10, 1)
    found = lax.conv_transpose(ones(2, 4, 4, 3), ones(2, 2, 3, 5), (3, 2), "VALID")
    assert found.shape == (2, 12, 8, 5)


def test_transposed_is_the_gradient():
    x, k = ones(1, 6, 5, 2), numpy.random.default_rng(0).normal(size=(3, 3, 2, 4)).astype("f")
    y, pull = nl.vjp(
        lambda x: lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=LAST), x
    )
    back = lax.conv_transpose(y, k, (1, 1), "VALID", transpose_kernel=True)
    npt.assert_allclose(back, pull(y)[0], rtol=1e-5)


def test_patches():
    x = numpy.arange(18.0, dtype="f").reshape(1, 2, 3, 3)
    found = lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID")
    npt.assert_array_equal(found[0, :, 0, 0], [0, 1, 3, 4, 9, 10, 12, 13])
    x = numpy.arange(18.0, dtype="f").reshape(1, 3, 3, 2)
    found = lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID", dimension_numbers=LAST)
    npt.assert_array_equal(found[0, 0, 0], [0, 2, 6, 8, 1, 3, 7, 9])


@pytest.mark.parametrize("numbers", [None, LAST])
def test_local_with_one_kernel_is_a_convolution(numbers):
    rng = numpy.random.default_rng(0)
    x = rng.normal(size=(2, 4, 4, 4)).astype("f")
    kernel = rng.normal(size=(3, 4, 2, 2)).astype("f")
    flat = numpy.broadcast_to(kernel.reshape(3, 16, 1, 1), (3, 16, 3, 3))
    if numbers:
        kernel, flat = kernel.transpose(2, 3, 1, 0), flat.transpose(2, 3, 1, 0)
    found = lax.conv_general_dilated_local(
        x, flat, (1, 1), "VALID", (2, 2), dimension_numbers=numbers
    )
    wanted = lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=numbers)
    npt.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_shapes():
    assert lax.conv_shape_tuple((1, 3, 8, 8), (16, 3, 3, 3), (1, 1), "VALID") == (1, 16, 6, 6)
    found = lax.conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 16), (2, 2), "SAME", LAST)
    assert found == (1, 4, 4, 16)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
def test_preferred_element_type(dtype):
    x, k = nl.numpy.ones((1, 1, 5), dtype), nl.numpy.full((1, 1, 3), 100, dtype)
    out = "int32" if dtype == "int8" else "float32"
    found = lax.conv(x, k, (1,), "VALID", preferred_element_type=out)
    assert found.dtype == out
    npt.assert_array_equal(found.ravel(), [300, 300, 300])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lax.conv(X, ones(1, 2, 3), (1,), "SAME"), errors.ShapeError, "1 // 1"),
        (lambda: lax.conv(X, ones(2, 3), (1,), "SAME"), errors.ShapeError, "one rank"),
        (lambda: lax.conv(X, K.astype("f2"), (1,), "SAME"), errors.DTypeError, "same dtype"),
        (lambda: lax.conv(X, K, (0,), "SAME"), errors.ValueArgumentError, "window_strides"),
        (lambda: lax.conv(X, K, (1, 1), "SAME"), errors.ValueArgumentError, "window_strides"),
        (lambda: lax.conv(X, K, (1,), "FOO"), errors.ValueArgumentError, "SAME_LOWER"),
        (lambda: lax.conv(X, K, (1,), [(1, 1), (2, 2)]), errors.ValueArgumentError, "pairs"),
        (lambda: lax.conv_general_dilated(X, K, (1,), "SAME", (2,)), errors.ValueArgumentError,
         "conv_transpose"),
        (lambda: lax.conv_general_dilated(X, K, (1,), "SAME", feature_group_count=2),
         errors.ShapeError, "divide"),
        (lambda: lax.conv_general_dilated(X, K, (1,), "SAME", batch_group_count=2),
         errors.ShapeError, "divide"),
        (lambda: lax.conv_general_dilated(ones(2, 2, 4), ones(2, 1, 3), (1,), "SAME",
                                          feature_group_count=2, batch_group_count=2),
         errors.ShapeError, "at most one"),
        (lambda: lax.conv_dimension_numbers((1,) * 4, (1,) * 4, ("NHWC", "HWIO", "NHWX")),
         errors.ValueArgumentError, "NHWX"),
        (lambda: lax.conv_dimension_numbers((1,) * 4, (1,) * 4, ("NHWC", "HWIO")),
         errors.ValueArgumentError, "three"),
        (lambda: lax.conv_dimension_numbers((1,) * 4, (1,) * 4, ("NHWC", "HVIO", "NHWC")),
         errors.ValueArgumentError, "spatial"),
        (lambda: lax.conv_transpose(X, K, (1,), "FOO"), errors.ValueArgumentError, "VALID"),
    ],
)  # fmt: skip
def test_errors_teach(call, error, text):
    with pytest.raises(error, match=text):
        call()
