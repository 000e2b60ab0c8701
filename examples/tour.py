"""The five-minute tour: derivatives, compilation, batching, eight devices, immutability.

Every claim is checked while it is shown; a false one stops the tour with an error. Pictures go to
``output/``.

    make demo        or        python examples/tour.py
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("NUMLIFT_NUM_CPU_DEVICES", "8")  # must be set before the first use

import matplotlib
import numpy
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, P, random

matplotlib.use("Agg")
import matplotlib.pyplot as plt

console = Console()
OUTPUT = Path(os.environ.get("NUMLIFT_TOUR_OUTPUT", "output"))


class ClaimError(AssertionError):
    """A claim of the tour is false."""


def check(claim: str, holds: object) -> None:
    """Print a claim with a tick, or stop the tour."""
    if not bool(holds):
        console.print(f"  [bold red]✗ {claim}[/]")
        raise ClaimError(claim)
    console.print(f"  [green]✓[/] {claim}")


def heading(number: int, title: str, text: str) -> None:
    """Start a chapter."""
    console.print()
    console.print(Panel(text, title=f"[bold]{number}. {title}[/]", title_align="left"))


def milliseconds(call, rounds: int = 7) -> float:
    """Least time of one call."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        nl.block_until_ready(call())
        best = min(best, time.perf_counter() - start)
    return best * 1e3


# ---- 1. derivatives --------------------------------------------------------------------------


def tanh(x):
    """Hyperbolic tangent, written with NumPy's functions."""
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


def with_if(x):
    """A Python `if` on the value."""
    return x**2 if x < 3.0 else 10.0 * np.sin(x)


def with_while(x):
    """A Python `while` loop: how often it runs depends on the value."""
    while x < 100.0:
        x = x * x + 1.0
    return x


def with_recursion(x, depth=4):
    """A recursive function."""
    return x if depth == 0 else np.sin(x) * with_recursion(x / 2.0, depth - 1)


def slope(function, x, step=1e-4):
    """Central finite difference in float64, by NumPy."""
    with nl.enable_x64(True):
        high, low = function(np.float64(x + step)), function(np.float64(x - step))
        return float(high - low) / (2 * step)


def derivatives() -> None:
    """grad: any order, through ordinary Python."""
    heading(1, "Derivatives", "grad turns a function into the function of its derivative.")
    first = nl.grad(tanh)(1.0)
    third = nl.grad(nl.grad(nl.grad(tanh)))(1.0)
    t = numpy.tanh(1.0)
    table = Table("function", "at", "grad", "finite difference")
    table.add_row("tanh", "1.0", f"{first:.7f}", f"{slope(tanh, 1.0):.7f}")
    rows = [(with_if, 2.0), (with_if, 4.0), (with_while, 2.0), (with_recursion, 1.3)]
    errors = []
    for function, at in rows:
        found, expected = float(nl.grad(function)(at)), slope(function, at)
        errors.append(abs(found - expected) / max(1.0, abs(expected)))
        table.add_row(function.__name__, str(at), f"{found:.6g}", f"{expected:.6g}")
    console.print(table)
    check("grad(tanh)(1.0) is 0.4199743", abs(float(first) - 0.4199743) < 1e-6)
    exact = -2 * (1 - t**2) * (1 - 3 * t**2)
    check(f"the third derivative is {exact:.5f}", abs(float(third) - exact) < 1e-3)
    check("gradients through if, while and recursion equal finite differences", max(errors) < 1e-3)


# ---- 2. compilation --------------------------------------------------------------------------


def compilation() -> None:
    """jit: trace once, XLA fuses."""
    heading(2, "Compilation", "jit traces a function once and compiles the whole of it with XLA.")
    traces = []

    def f(x):
        print("   (this print runs while f is traced)")
        traces.append(1)
        return x * x + x * 2.0

    host = numpy.random.default_rng(0).random((5000, 5000), dtype=numpy.float32)
    x = np.asarray(host)
    fast = nl.jit(f)
    fast(x).block_until_ready()
    fast(x).block_until_ready()
    fast(x + 1.0).block_until_ready()
    check("f was traced once for three calls", len(traces) == 1)

    text = nl.jit(lambda x: x * x + x * 2.0).lower(x).compile().as_text()
    kernels = text.count(" fusion(")
    times = {
        "NumPy": milliseconds(lambda: host * host + host * numpy.float32(2.0)),
        "numlift, each operation": milliseconds(lambda: x * x + x * 2.0),
        "numlift, jit": milliseconds(lambda: fast(x)),
    }
    table = Table("x*x + x*2.0 on 5000 x 5000", "ms", "times NumPy's speed")
    for name, ms in times.items():
        table.add_row(name, f"{ms:.1f}", f"{times['NumPy'] / ms:.1f}x")
    console.print(table)
    check(f"XLA made {kernels} fused kernel of it", kernels == 1)
    eager, fused = times["numlift, each operation"], times["numlift, jit"]
    check("one fused kernel is faster than an operation at a time", fused < eager)
    check("values equal NumPy's", numpy.allclose(fast(x)[:50], host[:50] ** 2 + 2 * host[:50]))


# ---- 3. batching -----------------------------------------------------------------------------


def l1_distance(a, b):
    """Sum of absolute differences of two points."""
    return np.abs(a - b).sum()


def batching() -> None:
    """vmap: write for one pair, run for all."""
    heading(3, "Batching", "vmap turns a function of one pair of points into one of all pairs.")
    points = random.normal(random.key(0), (100, 3))
    all_pairs = nl.vmap(nl.vmap(l1_distance, (0, None)), (None, 0))
    distances = all_pairs(points, points)
    console.print(f"  points {nl.typeof(points)}, distances {nl.typeof(distances)}")
    check("the result has shape (100, 100)", distances.shape == (100, 100))
    expected = cdist(numpy.asarray(points), numpy.asarray(points), "cityblock")
    check("it equals SciPy's cityblock distances", numpy.allclose(distances, expected, atol=1e-5))


# ---- 4. eight devices ------------------------------------------------------------------------

LAYERS = (64, 128, 10)


def initial_parameters(key):
    """Weights and biases of a small network."""
    parameters = []
    sizes = zip(LAYERS[:-1], LAYERS[1:], strict=True)
    for key_of_layer, (n, m) in zip(random.split(key, len(LAYERS) - 1), sizes, strict=True):
        weights = random.normal(key_of_layer, (n, m)) * numpy.sqrt(2.0 / n).astype("f4")
        parameters.append((weights, np.zeros(m)))
    return parameters


def predict(parameters, images):
    """Logits of the ten classes."""
    for weights, bias in parameters[:-1]:
        images = np.maximum(images @ weights + bias, 0.0)
    weights, bias = parameters[-1]
    return images @ weights + bias


def loss(parameters, batch):
    """Mean cross entropy."""
    images, labels = batch
    logits = predict(parameters, images)
    log_probabilities = nl.nn.log_softmax(logits)
    return -(log_probabilities * nl.nn.one_hot(labels, 10)).sum(axis=1).mean()


def train(parameters, batches, epochs: int):
    """Gradient descent with momentum; returns parameters and the losses."""
    velocity = nl.tree.map(np.zeros_like, parameters)

    @nl.jit
    def update(parameters, velocity, batch):
        value, gradient = nl.value_and_grad(loss)(parameters, batch)
        velocity = nl.tree.map(lambda v, g: 0.9 * v - 0.1 * g, velocity, gradient)
        return nl.tree.map(lambda p, v: p + v, parameters, velocity), velocity, value

    losses = []
    columns = (TextColumn("  training"), BarColumn(), TextColumn("{task.fields[loss]}"))
    quiet = console.is_jupyter  # a moving bar needs a terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=quiet) as progress:
        task = progress.add_task("", total=epochs, loss="")
        for _ in range(epochs):
            for batch in batches:
                parameters, velocity, value = update(parameters, velocity, batch)
            losses.append(float(value))
            progress.update(task, advance=1, loss=f"loss {losses[-1]:.4f}")
    return parameters, losses


def save_pictures(losses, images, labels, predictions) -> list[Path]:
    """Loss curve and digits with their predictions as PNG files."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogy(losses)
    axes.set(xlabel="epoch", ylabel="loss", title="Digits, trained on 8 devices")
    curve = OUTPUT / "loss.png"
    figure.savefig(curve, dpi=120)
    plt.close(figure)

    figure, grid = plt.subplots(4, 8, figsize=(8, 5), layout="constrained")
    for axes, image, label, found in zip(grid.flat, images, labels, predictions, strict=False):
        axes.imshow(image.reshape(8, 8), cmap="gray_r")
        axes.set_title(str(found), color="green" if found == label else "red", fontsize=11)
        axes.axis("off")
    figure.suptitle("Unseen digits and what the network says (red: wrong)")
    digits = OUTPUT / "digits.png"
    figure.savefig(digits, dpi=120)
    plt.close(figure)
    return [curve, digits]


def eight_devices() -> None:
    """A mesh: the same program, data-parallel on eight devices."""
    heading(
        4,
        "Eight devices",
        "Data spread over a mesh: the same code runs in parallel, XLA inserts the communication.",
    )
    mesh = nl.make_mesh((8,), ("data",), axis_types=(AxisType.Explicit,))
    data = load_digits()
    images = (data.data / 16.0).astype("float32")
    order = numpy.random.default_rng(0).permutation(len(images))
    images, labels = images[order], data.target[order].astype("int32")
    n_train, size = 1408, 352  # four batches, each divisible by eight
    test_images, test_labels = images[n_train:], labels[n_train:]
    parameters = initial_parameters(random.key(1))
    whole = (images[:n_train], labels[:n_train])
    unsharded = nl.jit(nl.grad(loss))(parameters, whole)

    with nl.set_mesh(mesh):
        batch = nl.device_put(whole, P("data"))
        gradient = nl.jit(nl.grad(loss))(parameters, batch)
        console.print("  the images, 1408 x 64, on 8 devices:")
        nl.debug.visualize_array_sharding(batch[0])
        console.print(f"  images {nl.typeof(batch[0])}, {batch[0].sharding}")
        console.print(f"  gradient {nl.typeof(gradient[0][0])}, {gradient[0][0].sharding}")
        check("each device holds 176 images", batch[0].addressable_shards[0].data.shape[0] == 176)
        check("the gradient is the same on all devices", gradient[0][0].is_fully_replicated)
        same = nl.tree.map(lambda a, b: numpy.allclose(a, b, atol=1e-5), gradient, unsharded)
        check("it equals the gradient of the unsharded run", nl.tree.all(same))

        batches = [
            nl.device_put((images[i : i + size], labels[i : i + size]), P("data"))
            for i in range(0, n_train, size)
        ]
        parameters, losses = train(parameters, batches, epochs=60)

    found = numpy.asarray(np.argmax(predict(nl.device_get(parameters), test_images), axis=1))
    accuracy = float((found == test_labels).mean())
    files = save_pictures(losses, test_images, test_labels, found)
    console.print(f"  wrote {', '.join(map(str, files))}")
    check(f"test accuracy {accuracy:.3f} is at least 0.95", accuracy >= 0.95)


# ---- 5. arrays and keys ----------------------------------------------------------------------


def arrays_and_keys() -> None:
    """Immutable arrays, explicit random keys."""
    heading(5, "Immutable arrays, explicit keys", "No hidden state: that is what makes it compose.")
    arr = np.arange(5)
    try:
        arr[0] = 5
    except TypeError as error:
        console.print(f"  [dim]{str(error).splitlines()[0]}[/]")
        check("arr[0] = 5 is an error that names arr.at[0].set(5)", ".at[0].set(5)" in str(error))
    else:
        check("arr[0] = 5 is an error", False)
    changed = arr.at[0].set(5)
    check(f"arr.at[0].set(5) gives {changed}", changed.tolist() == [5, 1, 2, 3, 4])
    check("arr itself is unchanged", arr.tolist() == [0, 1, 2, 3, 4])
    key = random.key(7)
    a, b = random.split(key)
    draw = random.normal(key, (3,))
    check("the same key gives the same numbers", (draw == random.normal(key, (3,))).all())
    one, two = random.normal(a, (3,)), random.normal(b, (3,))
    check("split keys give different numbers", not bool((one == two).any()))


def main() -> None:
    """Run the tour."""
    start = time.perf_counter()
    devices = nl.devices()
    console.print(
        f"[bold]numlift {nl.__version__}[/] on {len(devices)} {devices[0].platform} devices"
    )
    derivatives()
    compilation()
    batching()
    eight_devices()
    arrays_and_keys()
    console.print(f"\n[bold green]All claims hold.[/] {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except ClaimError as error:
        sys.exit(f"tour: this claim is false: {error}")
