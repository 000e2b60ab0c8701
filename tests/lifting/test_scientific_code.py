"""Functions as users have them, written for NumPy: lifted, differentiated, batched, sharded."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl

RNG = np.random.default_rng(0)
V = RNG.normal(size=8)
A = RNG.normal(size=(4, 4))
SPD = A @ A.T + 4 * np.eye(4)


def heat(u, steps=5, rate=0.2):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[-1] = 0
    return u


def k_means(points, centres):
    centres = centres.copy()
    for _ in range(3):
        distances = np.sum((points[:, None] - centres) ** 2, axis=-1)
        label = np.argmin(distances, axis=1)
        for k in range(len(centres)):
            mask = label == k
            centres[k] = np.sum(points * mask[:, None], axis=0) / np.maximum(mask.sum(), 1)
    return centres, label


def runge_kutta(y, h=0.1):
    def slope(y):
        return np.array([y[1], -np.sin(y[0])])

    track = np.empty((6, 2))
    track[0] = y
    for i in range(5):
        k1 = slope(track[i])
        k2 = slope(track[i] + h / 2 * k1)
        k3 = slope(track[i] + h / 2 * k2)
        k4 = slope(track[i] + h * k3)
        track[i + 1] = track[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return track


def ising(spins):
    return -np.sum(spins * (np.roll(spins, 1, axis=0) + np.roll(spins, 1, axis=1)))


def principal_components(x):
    x = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
    return values[::-1], np.abs(x @ vectors[:, ::-1])


def kalman(zs):
    x, p, out = np.zeros(2), np.eye(2), np.zeros((len(zs), 2))
    f, h = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    for i, z in enumerate(zs):
        x, p = f @ x, f @ p @ f.T + 0.01 * np.eye(2)
        gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + 0.5)
        x = x + (gain @ (z - h @ x))
        p = (np.eye(2) - gain @ h) @ p
        out[i] = x
    return out


def gauss_seidel(a, b):
    x = np.zeros_like(b)
    for _ in range(10):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def lstm_cell(x, h, c, w):
    gates = np.concatenate([x, h]) @ w
    i, f, o, g = np.split(gates, 4)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def equalised(image):
    counts, _ = np.histogram(image, bins=16, range=(0, 256))
    cdf = np.cumsum(counts)
    return (255 * cdf[image // 16] / cdf[-1]).astype(np.uint8)


def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0] = np.arange(len(a) + 1)
    table[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            changed = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min_of(table[i - 1, j] + 1, table[i, j - 1] + 1, changed)
    return table[-1, -1]


def min_of(*values):
    return np.min(np.array(values))


def n_body(position, mass):
    r = position[None] - position[:, None]
    d = np.sqrt(np.sum(r**2, axis=-1) + 0.01)
    return np.sum(mass[:, None] * r / d[..., None] ** 3, axis=1)


def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs = r.copy(), r @ r
    for _ in range(4):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return x


def newton_root(x, tolerance=1e-10):
    count = 0
    while abs(x * x - 2) > tolerance:
        x = x - (x * x - 2) / (2 * x)
        count += 1
    return x, count


def power_iteration(a):
    v = np.ones(a.shape[0])
    for _ in range(30):
        v = a @ v
        v /= np.linalg.norm(v)
    return v @ a @ v


def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def convolved(image, kernel):
    h, w = image.shape[0] - 2, image.shape[1] - 2
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            out[i, j] = np.sum(image[i : i + 3, j : j + 3] * kernel)
    return out


def moving_average(x, n=3):
    total = np.cumsum(x, dtype=float)
    total[n:] = total[n:] - total[:-n]
    return total[n - 1 :] / n


def low_pass(x):
    spectrum = np.fft.rfft(x)
    spectrum[3:] = 0
    return np.fft.irfft(spectrum, n=len(x))


def edges(image):
    gy, gx = np.gradient(image)
    return np.hypot(gx, gy)


def mandelbrot(c):
    z, counts = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for _ in range(10):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2
        z = np.where(inside, z + c, z)
        counts[inside] += 1
    return counts


def newton_fractal(z):
    for _ in range(10):
        z = z - (z**3 - 1) / (3 * z**2)
    return np.argmin(np.abs(z[..., None] - np.exp(2j * np.pi * np.arange(3) / 3)), axis=-1)


def shortest_paths(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    return d


def viterbi(log_start, log_move, log_seen):
    n = len(log_seen)
    back, score = np.zeros((n, len(log_start)), dtype=int), log_start + log_seen[0]
    for t in range(1, n):
        options = score[:, None] + log_move
        back[t] = options.argmax(axis=0)
        score = options.max(axis=0) + log_seen[t]
    path = np.zeros(n, dtype=int)
    path[-1] = np.argmax(score)
    for t in range(n - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path


def fitted(x, y):
    return np.polyval(np.polyfit(x, y, 2), x)


def hat_basis(x, knots=5):
    basis = np.zeros((len(x), knots))
    for k in range(knots):
        basis[:, k] = np.clip(1 - np.abs(x * (knots - 1) - k), 0, None)
    return basis


def black_scholes(spot, strike, years, rate, sigma):
    def normal_cdf(d):
        return 1 / (1 + np.exp(-1.5976 * d - 0.07056 * d**3))

    d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
    d2 = d1 - sigma * np.sqrt(years)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)


IMAGE = RNG.normal(size=(6, 7))
GRID = np.linspace(-2, 1, 5) + 1j * np.linspace(-1, 1, 4)[:, None]
CODE = {
    heat: (V,),
    k_means: (RNG.normal(size=(9, 2)), RNG.normal(size=(3, 2))),
    runge_kutta: (np.array([1.0, 0.0]),),
    ising: (np.sign(A).astype(np.int8),),
    principal_components: (RNG.normal(size=(9, 3)),),
    kalman: (V,),
    gauss_seidel: (SPD, V[:4]),
    lstm_cell: (V[:3], V[3:5], V[5:7], RNG.normal(size=(5, 8))),
    equalised: (RNG.integers(0, 256, size=(5, 5)),),
    edit_distance: (np.array([1, 2, 3, 4]), np.array([2, 3, 5])),
    black_scholes: (100.0 + V, 95.0, 0.5, 0.02, 0.3),
    n_body: (RNG.normal(size=(4, 3)), np.abs(V[:4])),
    conjugate_gradient: (SPD, V[:4]),
    power_iteration: (SPD,),
    fitted: (np.arange(8.0), V),
    cross_entropy: (A, np.array([0, 3, 1, 1])),
    convolved: (IMAGE, RNG.normal(size=(3, 3))),
    hat_basis: (np.abs(V) % 1,),
    moving_average: (V.astype(np.float32),),
    low_pass: (V,),
    edges: (IMAGE.astype(np.float32),),
    mandelbrot: (GRID,),
    newton_fractal: (GRID + 0.1,),
    shortest_paths: (np.abs(A).astype(np.float32),),
    viterbi: (V[:4], A, RNG.normal(size=(5, 4))),
}


@pytest.mark.parametrize("function", CODE, ids=lambda f: f.__name__)
def test_lifted_code_computes_as_numpy(function) -> None:
    args = CODE[function]
    wanted, found = function(*args), nl.lift(function)(*args)
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (wanted, found)], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        rtol = 1e-4 if np.asarray(a).dtype == np.float32 else 1e-8
        np.testing.assert_allclose(b, a, rtol=rtol, atol=1e-6 if rtol > 1e-6 else 1e-12)


@pytest.mark.parametrize("start", [1.0, 30.0])
def test_a_loop_until_convergence(start) -> None:
    root, count = nl.lift(newton_root, autostage=True)(start)
    assert (root, count) == newton_root(start)


DIFFERENTIABLE = [
    heat, runge_kutta, kalman, gauss_seidel, lstm_cell, black_scholes, n_body, conjugate_gradient,
    power_iteration, cross_entropy, convolved, moving_average, low_pass, edges,
]  # fmt: skip


@pytest.mark.parametrize("function", DIFFERENTIABLE, ids=lambda f: f.__name__)
def test_derivatives_of_lifted_code(function) -> None:
    x, *rest = [np.asarray(a, np.float64) if np.ndim(a) and a.dtype.kind == "f" else a
                for a in CODE[function]]  # fmt: skip

    def total(x):
        found = function(x, *rest)
        return np.sum((found[0] if isinstance(found, tuple) else found) ** 2)

    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    slope = np.sum(nl.lift(nl.grad(total))(x) * direction)
    numeric = (total(x + 1e-6 * direction) - total(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(slope, numeric, rtol=1e-5, atol=1e-6)


PLAIN = [ising, lstm_cell, black_scholes, n_body, cross_entropy, edges, shortest_paths]


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
def test_code_without_writes_needs_no_lift(function) -> None:
    x, *rest = CODE[function]
    with nl.enable_x64():
        wanted = function(x, *rest)
        first = lambda y: y[0] if isinstance(y, tuple) else y
        batched = nl.jit(nl.vmap(lambda x: first(function(x, *rest))))(np.stack([x, x]))
    np.testing.assert_allclose(batched, [first(wanted)] * 2, rtol=1e-5, atol=1e-6)


def test_sharded_arguments() -> None:
    if len(nl.devices()) < 8:
        pytest.skip("needs 8 devices")
    mesh = nl.make_mesh((8,), ("x",))
    spot = nl.device_put(100 + V.astype(np.float32), nl.NamedSharding(mesh, nl.P("x")))
    found = nl.jit(lambda s: black_scholes(s, 95.0, 0.5, 0.02, 0.3))(spot)
    wanted = black_scholes(100 + V, 95.0, 0.5, 0.02, 0.3)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert len(found.sharding.device_set) == 8
