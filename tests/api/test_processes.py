"""What only a process of its own can show: no `jax` is imported, programs are found on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.child import run

WORK = """
import sys
import numlift as nl
import numlift.numpy as np
from numlift import lax, random

def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)

w = random.normal(random.key(0), (3, 2))
x = np.ones((4, 3))
print(float(nl.jit(loss)(w, x)))
nl.jit(nl.vmap(nl.grad(loss), in_axes=(None, 0)))(w, x).block_until_ready()
nl.hessian(loss)(w, x)
np.linalg.inv(np.eye(3) * 2.0)
np.sort(x)[0]
mesh = nl.make_mesh((len(nl.devices()),), ("i",))
y = nl.device_put(np.arange(4.0), nl.NamedSharding(mesh, nl.P("i")))
float(nl.jit(np.sum)(y))
repr(y), str(nl.make_jaxpr(loss)(w, x)), nl.jit(loss).lower(w, x).compile().as_text()
try:
    nl.grad(lambda x: x)(x)
except TypeError as error:
    str(error)
loaded = [name for name in sys.modules if name == "jax" or name.startswith("jax.")]
assert not loaded, loaded
assert not any(name.startswith("jax._src") for name in sys.modules)
print("done")
"""


@pytest.fixture
def broken_jax(tmp_path: Path) -> Path:
    """A folder with a package `jax` that cannot be imported."""
    package = tmp_path / "site" / "jax"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('jax was imported')\n")
    (package / "_src").mkdir()
    (package / "_src" / "__init__.py").write_text("raise RuntimeError('jax was imported')\n")
    return tmp_path / "site"


def test_jax_is_never_imported_and_an_installed_one_changes_nothing(broken_jax: Path) -> None:
    plain = run(WORK, NUMLIFT_NUM_CPU_DEVICES="4")
    assert plain.endswith("done\n")
    assert run(WORK, broken_jax, NUMLIFT_NUM_CPU_DEVICES="4") == plain
    said = run("import jax", broken_jax, expect=1)
    assert "jax was imported" in said


def test_the_import_loads_no_heavy_package() -> None:
    said = run(
        "import sys, numlift\n"
        "heavy = ('scipy', 'matplotlib', 'jax', 'sklearn', 'hypothesis', 'pytest', 'unittest')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert said == "[]\n"


COMPILE = """
import numlift as nl
import numlift.numpy as np

f = nl.jit(lambda x: np.sin(x) @ np.cos(x) + 1.0)
compiled = f.lower(np.ones(5)).compile()
print(compiled.runtime_executable().from_cache)
print(float(f(np.zeros(5))))
"""


def test_a_second_process_finds_programs_on_disk(tmp_path: Path) -> None:
    options = {
        "NUMLIFT_ENABLE_COMPILATION_CACHE": "1",
        "NUMLIFT_COMPILATION_CACHE": "1",
        "NUMLIFT_COMPILATION_CACHE_DIR": str(tmp_path),
    }
    assert run(COMPILE, **options).split() == ["False", "1.0"]
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files
    assert run(COMPILE, **options).split() == ["True", "1.0"]
    for path in files:
        path.write_bytes(b"not a program")
    said = run(COMPILE, **options, PYTHONWARNINGS="default")
    assert "removed because it is damaged" in said and "\n1.0" in said
    off = {**options, "NUMLIFT_ENABLE_COMPILATION_CACHE": "0"}
    assert run(COMPILE, **off).split() == ["False", "1.0"]


def test_arrays_and_functions_of_a_module_go_to_other_processes(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import numlift as nl\n"
        "import numlift.numpy as np\n"
        "square = nl.jit(lambda x: x * x)\n"
        "def total(x):\n"
        "    return float(np.sum(square(x)))\n"
    )
    code = """
import multiprocessing
import numlift.numpy as np
from work import total

with multiprocessing.get_context("spawn").Pool(1) as pool:
    print(pool.map(total, [np.full(3, 2.0)]), total(np.ones(2)))
"""
    assert run(code, tmp_path) == "[12.0] 2.0\n"
