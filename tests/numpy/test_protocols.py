"""NumPy's own functions on our arrays, concrete and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import numlift as nl
import numlift.numpy as nlnp
from numlift import errors
from numlift.core.tracing import Value

X = np.linspace(0.2, 1.8, 6, dtype=np.float32).reshape(2, 3)
Y = np.linspace(0.5, 0.9, 6, dtype=np.float32).reshape(2, 3)
N = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
UFUNCS = sorted({f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)} - {"isnat"})
GENERALIZED = {"matmul": (X, Y.T), "matvec": (X, Y[0]), "vecmat": (Y[:, 0], X), "vecdot": (X, Y)}


def arguments(name: str) -> tuple[np.ndarray, ...]:
    ufunc = getattr(np, name)
    if name in GENERALIZED:
        return GENERALIZED[name]
    if name == "arccosh":
        return (X + 1,)
    if name == "ldexp":
        return (X, N)
    floats = "f" * ufunc.nin + "->"
    if any(t.startswith(floats) for t in ufunc.types):
        return (Y,) if name in ("arcsin", "arccos", "arctanh") else (X, Y)[: ufunc.nin]
    return (N, N + 3)[: ufunc.nin]


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_runs_in_numlift_and_agrees_with_numpy(name: str) -> None:
    ufunc, args = getattr(np, name), arguments(name)
    expected = ufunc(*args)
    for found in (ufunc(*map(nlnp.asarray, args)), nl.jit(ufunc)(*args)):
        for a, b in zip(
            found if ufunc.nout > 1 else [found],
            expected if ufunc.nout > 1 else [expected],
            strict=True,
        ):
            assert isinstance(a, Value)
            np.testing.assert_allclose(np.asarray(a), b, rtol=2e-6)


def test_mixed_arguments_in_both_orders() -> None:
    x = nlnp.asarray(X)
    for found in (np.multiply(Y, x), np.multiply(x, Y), Y * x, x * Y, np.float32(2) * x / 2 * Y):
        assert isinstance(found, Value)
        np.testing.assert_allclose(np.asarray(found), X * Y, rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, axis=1, keepdims=True),
        lambda x: np.mean(x, 0),
        lambda x: np.linalg.norm(x),
        lambda x: np.linalg.svd(x, compute_uv=False),
        lambda x: np.concatenate([x, np.ones((1, 3), np.float32)]),
        lambda x: np.where(x > 1, x, 0),
        lambda x: np.einsum("ij,kj->ik", x, x),
        lambda x: np.fft.rfft(x).real,
        lambda x: np.stack([x, x]).reshape(-1),
        lambda x: np.add.reduce(x, axis=1),
        lambda x: np.add.reduce(x, axis=0, where=True, initial=1.0),
        lambda x: np.multiply.accumulate(x, axis=1),
        lambda x: np.hypot.outer(x[0], x[1]),
        lambda x: np.add.reduceat(x[0], [0, 1]),
        lambda x: np.maximum.reduce(x, axis=None),
        lambda x: np.zeros_like(x) + np.ones_like(x),
        lambda x: np.linspace(0, x[0, 0], 4),
        lambda x: np.clip(x, 0.5, 1.5),
        lambda x: np.sort(x, axis=None),
        lambda x: np.apply_along_axis(lambda r: r * r, 1, x),
        lambda x: np.interp(x, np.arange(3.0), np.arange(3.0)),
        lambda x: np.asarray([1.0, 2.0], like=x),
        lambda x: np.add(x, 1, dtype=np.float32),
    ],
)
def test_array_functions_agree_with_numpy_also_traced(call) -> None:
    expected = call(X)
    for run in (call, nl.jit(call)):
        found = run(nlnp.asarray(X))
        assert isinstance(found, Value)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-5, atol=1e-6)


def plain(x):
    centred = x - np.mean(x, axis=0)
    spread = np.sqrt(np.sum(centred**2) + 1)
    return np.sum(np.tanh(centred @ np.ones(3, np.float32))) + np.log(spread) * np.linalg.norm(x)


def test_plain_numpy_code_is_differentiated_compiled_and_batched() -> None:
    with nl.enable_x64(True):
        x = X.astype(np.float64)
        gradient = np.asarray(nl.grad(plain)(x))
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1e-6
            slope = (plain(x + step) - plain(x - step)) / 2e-6
            np.testing.assert_allclose(gradient[index], slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(nl.jit(plain)(X), plain(X), rtol=1e-6)
    batch = np.stack([X, Y])
    found = np.asarray(nl.vmap(plain)(batch))
    np.testing.assert_allclose(found, [plain(X), plain(Y)], rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(nl.jit(nl.vmap(nl.grad(plain)))(batch))[1], nl.grad(plain)(Y), rtol=1e-5
    )


SPECIAL = {
    "betainc": (X, Y + 1, Y),
    "gammainc": (X, Y),
    "gammaincc": (X, Y),
    "xlogy": (X, Y),
    "xlog1py": (X, Y),
    "rel_entr": (X, Y),
    "gamma": (X - 2.05,),
    "erfinv": (Y - 0.7,),
    "logit": (Y,),
    "zeta": None,
}


@pytest.mark.parametrize(
    "name",
    sorted(set(SPECIAL) - {"zeta"})
    + [
        "digamma",
        "entr",
        "erf",
        "erfc",
        "expit",
        "gammaln",
        "i0",
        "i0e",
        "i1",
        "i1e",
        "log_expit",
        "ndtr",
        "psi",
    ],
)
def test_functions_of_scipy_special(name: str) -> None:
    function, args = getattr(scipy.special, name), SPECIAL.get(name) or (X,)
    expected = function(*[a.astype(np.float64) for a in args])
    found = nl.jit(function)(*args)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    with nl.enable_x64(True):
        x, *rest = [a.astype(np.float64) for a in args]
        slope = (function(x + 1e-6, *rest) - function(x - 1e-6, *rest)) / 2e-6
        if name not in ("betainc",):
            gradient = nl.grad(lambda x: function(x, *rest).sum())(x)
            np.testing.assert_allclose(gradient, slope, rtol=1e-5)


def test_special_functions_at_their_edges() -> None:
    zero = nlnp.zeros(1)
    assert float(scipy.special.xlogy(zero, zero)[0]) == 0
    assert float(scipy.special.xlog1py(zero, zero - 1)[0]) == 0
    assert float(scipy.special.entr(zero - 1)[0]) == -np.inf
    assert float(scipy.special.rel_entr(zero + 1, zero)[0]) == np.inf
    assert float(scipy.special.rel_entr(zero, zero)[0]) == 0
    assert np.isnan(float(nlnp.asarray(scipy.special.gamma(np.float32(-1)))))
    x = np.array([-200.0, 200.0], np.float32)
    np.testing.assert_allclose(scipy.special.log_expit(nlnp.asarray(x)), [-200, 0])


def test_what_numpy_alone_can_do_runs_on_values() -> None:
    x = nlnp.asarray(X)
    assert np.array2string(x) == np.array2string(X)
    assert np.array_repr(x) == np.array_repr(X)
    assert np.shares_memory(x, np.asarray(x))
    np.testing.assert_allclose(scipy.special.jv(0, x), scipy.special.jv(0, X))
    with pytest.raises(errors.TracerArrayConversionError, match="numpy.ufunc jv: .*cannot be"):
        nl.jit(lambda x: scipy.special.jv(0, x))(X)
    with pytest.raises(errors.TracerArrayConversionError, match="numpy.array2string"):
        nl.jit(lambda x: np.array2string(x))(X)


def test_writing_into_a_numpy_array() -> None:
    x, target = nlnp.asarray(X), np.zeros((2, 3))
    target += x
    np.testing.assert_array_equal(target, X.astype(np.float64))
    assert np.add(x, x, out=target) is target
    np.copyto(target, x)
    np.add.at(target, (0, 0), nlnp.float32(1))
    np.testing.assert_array_equal(target[0, 1:], X[0, 1:].astype(np.float64))
    assert np.sum(x, axis=0, out=np.zeros(3)).dtype == np.float64
    np.fill_diagonal(target, x[0])
    np.testing.assert_array_equal(np.diagonal(target), X[0, :2].astype(np.float64))

    def write(x):
        a = np.zeros((2, 3), np.float32)
        a += x
        return a

    with pytest.raises(errors.TracerArrayConversionError, match="a = a [+] x instead of"):
        nl.jit(write)(X)
    with pytest.raises(errors.TracerArrayConversionError, match="numpy.copyto.*\n.*\n.*np.where"):
        nl.jit(lambda x: np.copyto(target, x))(X)
    with pytest.raises(errors.TracerArrayConversionError, match="numpy.sum"):
        nl.jit(lambda x: np.sum(x, axis=0, out=np.zeros(3)))(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add(x, 1, out=x),
        lambda x: np.add(X, 1, out=x),
        lambda x: np.add.at(x, 0, 1),
        lambda x: np.copyto(x, X),
        lambda x: np.sum(X, axis=0, out=x[0]),
    ],
)
def test_writing_into_our_arrays_is_an_error(call) -> None:
    for run in (call, nl.jit(call)):
        with pytest.raises(errors.ImmutableArrayError, match="immutable"):
            run(nlnp.asarray(X))


def test_options_of_ufuncs() -> None:
    x = nlnp.asarray(N)
    assert np.add(x, x, dtype=np.float32).dtype == np.float32
    assert np.add(x, x, order="C", subok=False).dtype == np.int32
    with pytest.raises(errors.DTypeError, match="casting='same_kind'"):
        np.add(nlnp.asarray(X), 1, dtype=np.int32)
    assert np.add(nlnp.asarray(X), 1, dtype=np.int32, casting="unsafe").dtype == np.int32
    with pytest.raises(errors.ArgumentError, match="where= without out="):
        np.sin(x, where=np.ones((2, 3), bool))
    assert np.add(x, x, signature="ff->f").dtype == np.float32


class Foreign:
    """An array class of somebody else, who computes."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return f"foreign {ufunc.__name__}"

    def __array_function__(self, func, types, args, kwargs):
        return f"foreign {func.__name__}"


def test_other_array_classes_have_their_say() -> None:
    x = nlnp.asarray(X)
    assert np.add(x, Foreign()) == "foreign add"
    assert np.concatenate([x, Foreign()]) == "foreign concatenate"


def test_a_function_that_only_a_traced_value_refuses_names_the_line() -> None:
    with pytest.raises(errors.TracerArrayConversionError, match="np.asarray") as caught:
        nl.jit(lambda x: np.asarray(x) + 1)(X)
    assert "nl.lift" in str(caught.value)
