"""Functions exported once for all sizes of an axis."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import export, lax, nn, random
from numlift.tree import tree_leaves

Struct = nl.ShapeDtypeStruct


def structs(*specs: str, constraints: Sequence[str] = ()) -> list[Struct]:
    """float32 arguments, or int32 ones where the text ends with ``:i``."""
    scope = export.SymbolicScope(constraints)
    found = []
    for spec in specs:
        text, _, kind = spec.partition(":")
        shape = export.symbolic_shape(text, scope=scope)
        found.append(Struct(shape, "int32" if kind else "float32"))
    return found


def again(exported: export.Exported, **options: Any) -> export.Exported:
    return export.deserialize(exported.serialize(**options))


def draws(specs: Sequence[str], sizes: dict[str, int]) -> list[numpy.ndarray]:
    generator = numpy.random.default_rng(0)
    found = []
    for spec in specs:
        text, _, kind = spec.partition(":")
        scope = export.SymbolicScope()
        shape = [
            d.evaluate(sizes) if export.is_symbolic_dim(d) else d
            for d in export.symbolic_shape(text, scope=scope)
        ]
        if kind:
            found.append(generator.integers(0, 2, shape).astype("int32"))
        else:
            found.append((generator.random(shape) + 0.01).astype("float32"))
    return found


def check(
    f: Any,
    specs: Sequence[str],
    sizes: Sequence[dict[str, int]] = ({"b": 1}, {"b": 3}, {"b": 8}),
    constraints: Sequence[str] = (),
    tolerance: float = 1e-6,
) -> export.Exported:
    """The exported function, read again, gives what the jitted one gives."""
    direct = nl.jit(f)
    exported = again(export.export(direct)(*structs(*specs, constraints=constraints)))
    for chosen in sizes:
        args = draws(specs, chosen)
        got, want = tree_leaves(exported.call(*args)), tree_leaves(direct(*args))
        assert len(got) == len(want)
        for x, y in zip(got, want, strict=True):
            assert x.dtype == y.dtype
            assert x.shape == y.shape
            numpy.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
    return exported


SHAPES = {
    "reshape": lambda x: (x.reshape(x.shape[0], -1), x.reshape(-1), x.reshape(-1, 2), x.T),
    "slices": lambda x: (x[1:], x[:-1], x[::2], x[::-1], x[: x.shape[0] // 2], x[-1], x[0], x[-2:]),
    "joined": lambda x: (np.concatenate([x, x]), np.stack([x, x], 1), np.tile(x, (2, 1))),
    "padded": lambda x: (np.pad(x, ((1, 2), (0, 1))), np.pad(x, 1, "edge"), np.pad(x, 1, "wrap")),
    "reflected": lambda x: (np.pad(x, 1, "reflect"), np.pad(x, 1, "symmetric")),
    "ranges": lambda x: (
        np.arange(x.shape[0]),
        np.arange(x.shape[0] - 1, -1, -1),
        np.arange(1, 2 * x.shape[0], 2),
        np.linspace(0, 1, x.shape[0]),
        np.eye(x.shape[0]),
        np.tri(x.shape[0]),
    ),
    "numbers": lambda x: (
        x.shape[0],
        x.sum() / x.shape[0],
        x.shape[0] * x,
        np.sqrt(x.shape[0]),
        np.array([x.shape[0], 2]),
        x.size,
        1 / x.shape[0],
        x.shape[0] ** 0.5,
    ),
    "filled": lambda x: (np.zeros((x.shape[0], 2)), np.full(x.shape, 2.0), np.ones_like(x)),
    "places": lambda x: (x.at[0].set(1.0), x.at[-1].add(2.0), x.at[:, 1].multiply(3.0)),
    "extremes": lambda x: (np.argmax(x, 0), np.argmin(x), np.max(x, 1), lax.top_k(x, 2)),
    "sorted": lambda x: (
        np.sort(x, 0),
        np.argsort(x, 0),
        np.median(x),
        np.quantile(x, 0.3, axis=0),
    ),
    "statistics": lambda x: (x.mean(0), x.var(0), x.std(), np.average(x, 0), np.cov(x.T)),
    "random": lambda x: (
        random.normal(random.key(0), x.shape),
        random.randint(random.key(1), (x.shape[0],), 0, 9),
        random.permutation(random.key(2), x),
        random.key_data(random.split(random.key(3), x.shape[0])),
    ),
    "loops": lambda x: (
        lax.scan(lambda c, v: (c * 0.5 + v, c.sum()), np.zeros(x.shape[1]), x),
        lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], np.zeros(4)),
        lax.map(lambda row: row.sum() ** 2, x),
        lax.cond(x.sum() > 2.0, lambda v: v * 2, lambda v: v - 1, x),
        lax.while_loop(lambda c: c.sum() < 100.0, lambda c: c * 2 + 1, x),
    ),
    "cumulated": lambda x: (np.cumsum(x, 0), np.cumprod(x, 1), lax.cummax(x, 0)),
    "mapped": lambda x: (nl.vmap(lambda v: v @ v)(x), nl.vmap(nl.grad(lambda v: (v**3).sum()))(x)),
    "networks": lambda x: (nn.softmax(x, 0), nn.log_softmax(x), nn.gelu(x), nn.logsumexp(x, 0)),
    "jacobian": lambda x: nl.jacrev(lambda v: (v**2).sum(0))(x),
}


@pytest.mark.parametrize("name", SHAPES)
def test_functions_of_one_symbolic_axis(name: str) -> None:
    sizes = ({"b": 2}, {"b": 3}, {"b": 20})
    check(SHAPES[name], ["b, 4"], sizes, ["b >= 2"], tolerance=1e-5)


def test_contractions() -> None:
    sizes = ({"b": 2, "k": 3}, {"b": 1, "k": 1}, {"b": 5, "k": 4})
    check(lambda x, y: x @ y, ["b, k", "k, 3"], sizes, tolerance=1e-5)
    check(
        lambda x, y: (np.einsum("bij,bkj->bik", x, y), np.tensordot(x, y, ((0, 2), (0, 2)))),
        ["b, 3, k", "b, 2, k"],
        sizes,
        tolerance=1e-5,
    )


def test_convolutions_and_pooling() -> None:
    def f(x: Any, w: Any) -> Any:
        y = lax.conv_general_dilated(x, w, (2, 2), "SAME")
        return y, lax.reduce_window(x, -numpy.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    sizes = ({"b": 1, "h": 5}, {"b": 2, "h": 8}, {"b": 3, "h": 4})
    check(f, ["b, 3, h, h", "4, 3, 3, 3"], sizes, ["h >= 2"], tolerance=1e-5)


def test_gather_and_scatter() -> None:
    def f(x: Any, i: Any) -> Any:
        rows = np.arange(i.shape[0])
        return (
            x[i],
            x[i, 0],
            x[:, i],
            x[i, rows % 4],
            np.take(x, i, axis=0),
            np.take_along_axis(x, i[:1, None], 0),
            x.at[i].add(1.0),
            np.zeros((3, x.shape[1])).at[i % 3].max(x[i]),
            nn.one_hot(i, x.shape[0]),
            lax.dynamic_slice_in_dim(x, i[0], 1),
        )

    sizes = ({"b": 2, "c": 3}, {"b": 3, "c": 1}, {"b": 9, "c": 4})
    check(f, ["b, 4", "c:i"], sizes, ["b >= 2"])


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -1e9)
    return np.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)


def lstm(x: Any, w: Any, u: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        h, c = state
        i, f, g, o = np.split(row @ w + h @ u, 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * np.tanh(g)
        h = nn.sigmoid(o) * np.tanh(c)
        return (h, c), h

    zero = np.zeros((x.shape[0], u.shape[0]))
    return lax.scan(step, (zero, zero), np.swapaxes(x, 0, 1))[1]


def perceptron(x: Any, w: Any, v: Any) -> Any:
    return nn.log_softmax(nn.relu(x @ w) @ v).mean(0)


MODELS: dict[str, tuple[Any, list[str]]] = {
    "attention": (attention, ["b, t, 2, 4"] * 3),
    "lstm": (lstm, ["b, t, 4", "4, 12", "3, 12"]),
    "perceptron": (perceptron, ["b, 4", "4, 8", "8, 3"]),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_and_their_derivatives(name: str) -> None:
    f, specs = MODELS[name]
    sizes = [{"b": 1, "t": 3}, {"b": 2, "t": 5}, {"b": 4, "t": 1}]
    check(f, specs, sizes, tolerance=1e-5)
    exported = again(export.export(nl.jit(f))(*structs(*specs)), vjp_order=1)
    for chosen in sizes:
        args = draws(specs, chosen)
        got = nl.grad(lambda *a: (exported.call(*a) ** 2).sum(), argnums=(0, 1, 2))(*args)
        want = nl.grad(lambda *a: (f(*a) ** 2).sum(), argnums=(0, 1, 2))(*args)
        for x, y in zip(got, want, strict=True):
            numpy.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_batched_factorisations() -> None:
    def f(x: Any) -> Any:
        a = np.einsum("bi,bj->bij", x, x) + 2 * np.eye(4)
        return (
            np.linalg.cholesky(a),
            np.linalg.solve(a, x[..., None]),
            np.linalg.det(a),
            np.linalg.eigvalsh(a),
            np.linalg.svd(a, compute_uv=False),
        )

    check(f, ["b, 4"], tolerance=1e-3)


def test_factorisations_of_symbolic_size() -> None:
    def f(x: Any) -> Any:
        a = x @ x.T + np.eye(x.shape[0])
        return np.linalg.cholesky(a), np.linalg.solve(a, x)

    check(f, ["b, 4"], tolerance=1e-3)


def test_a_process_without_the_source(tmp_path: Any) -> None:
    f, specs = MODELS["lstm"]
    exported = export.export(nl.jit(f))(*structs(*specs, constraints=["t >= 2"]))
    (tmp_path / "f.bin").write_bytes(exported.serialize(vjp_order=1))
    cases = {}
    for n, chosen in enumerate(({"b": 1, "t": 2}, {"b": 3, "t": 7}, {"b": 2, "t": 5})):
        args = draws(specs, chosen)
        cases.update({f"{n}_{i}": x for i, x in enumerate(args)})
        cases[f"{n}_out"] = numpy.asarray(f(*args))
    numpy.savez(tmp_path / "cases.npz", **cases)
    script = """
import numpy
import numlift as nl
from numlift import errors, export
f = export.deserialize(open("f.bin", "rb").read())
cases = numpy.load("cases.npz")
for n in range(3):
    args = [cases[f"{n}_{i}"] for i in range(3)]
    want = cases[f"{n}_out"]
    numpy.testing.assert_allclose(f.call(*args), want, rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(nl.jit(f.call)(*args), want, rtol=1e-5, atol=1e-6)
    slope = nl.grad(lambda x: f.call(x, *args[1:]).sum())(args[0])
    assert slope.shape == args[0].shape
try:
    f.call(args[0][:, :1], *args[1:])
except errors.ValueArgumentError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "t >= 2 (t is 1)" in done.stdout


def test_inside_jit_and_inside_other_exports() -> None:
    inner = again(export.export(nl.jit(lambda x: np.cumsum(x, 0) * x.shape[0]))(*structs("n, 4")))

    def outer(x: Any, y: Any) -> Any:
        return inner.call(x).sum() + inner.call(np.concatenate([x, y])).sum() + inner.call(y[:1])

    x, y = draws(["3, 4", "2, 4"], {})
    want = numpy.asarray(nl.jit(outer)(x, y))
    numpy.testing.assert_allclose(outer(x, y), want, rtol=1e-6)
    exported = again(export.export(nl.jit(outer))(*structs("b, 4", "c, 4")))
    numpy.testing.assert_allclose(exported.call(x, y), want, rtol=1e-6)
    fixed = again(
        export.export(nl.jit(outer))(Struct((3, 4), "float32"), Struct((2, 4), "float32"))
    )
    numpy.testing.assert_allclose(fixed.call(x, y), want, rtol=1e-6)


def test_files_and_types() -> None:
    exported = again(export.export(nl.jit(lambda x: x[1:]))(*structs("2*b, 4")))
    assert repr(exported) == "Exported(<lambda>: (float32[2*b,4]) -> (float32[2*b - 1,4]), " + (
        "platforms=('cpu',))"
    )
    assert str(exported.in_avals[0].shape) == "(2*b, 4)"
    assert "2*b - 1" in exported.mlir_module()
    assert exported.call(numpy.ones((6, 4), "float32")).shape == (5, 4)


def test_types_alone() -> None:
    (x,) = structs("b, 4")
    assert str(nl.eval_shape(lambda x: x.reshape(-1), x).shape) == "(4*b,)"
    assert "float32[b,4]" in str(nl.jit(np.sin).trace(x).jaxpr)
    (b, _) = x.shape
    assert x.size == 4 * b


def test_dtypes_and_keys() -> None:
    (b,) = export.symbolic_shape("b")
    for dtype in ("int8", "bfloat16", "complex64", "bool"):
        made = again(export.export(nl.jit(lambda x: x[::-1]))(Struct((b,), dtype)))
        assert made.call(np.ones(3, dtype)).dtype == np.dtype(dtype)
    keys = random.split(random.key(0), 3)
    draw = nl.jit(nl.vmap(lambda k: random.normal(k, (2,))))
    made = again(export.export(draw)(Struct((b,), keys.dtype)))
    numpy.testing.assert_array_equal(made.call(keys), draw(keys))


def test_closures_of_large_constants() -> None:
    table = numpy.random.default_rng(0).random((300, 4)).astype("float32")
    made = check(lambda i: np.asarray(table)[i] * i.shape[0], ["b:i"])
    assert len(made.serialize()) < 40_000
