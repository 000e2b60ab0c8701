"""Discovery and messages, on made-up installations in processes of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numlift.runtime import plugins, xla
from tests.runtime.child import run

pytestmark = pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")

LIST = "from numlift.runtime import devices as d; print(len(d.devices()), d.default_backend())"
FORCED = "from numlift.runtime import devices as d; d.devices('{}')"


def install(
    root: Path, package: str, library: str, wheel: str | None = None, version: str = ""
) -> Path:
    """Folders as a wheel would leave them; its code must never run."""
    folder = root.joinpath(*package.split("."))
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('the package was imported')")
    (folder / library).write_bytes(b"not a library")
    if wheel:
        info = root / f"{wheel.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {wheel}\nVersion: {version}\n"
        )
    return folder / library


def install_cuda(root: Path, version: str = xla.VERSION, major: int = 13) -> Path:
    return install(
        root,
        f"jax_plugins.xla_cuda{major}",
        "xla_cuda_plugin.so",
        f"jax-cuda{major}-plugin",
        version,
    )


def test_nothing_installed():
    for report in plugins.report():
        assert report.status == "missing"
        assert report.library is None
        assert "plugin is installed" in report.reason
        assert report.install.startswith('pip install "numlift[')
    assert plugins.installed("cpu")
    assert not plugins.installed("cuda")


@pytest.mark.parametrize("major", [12, 13])
def test_found_without_running_its_code(tmp_path, major):
    library = install_cuda(tmp_path, major=major)
    code = "from numlift.runtime import plugins as p; print(p.find('cuda').library)"
    assert run(code, tmp_path).strip() == str(library)


def test_cpu_is_used_when_the_driver_is_missing(tmp_path):
    install_cuda(tmp_path)
    assert run(LIST, tmp_path).split() == ["1", "cpu"]
    said = run(FORCED.format("cuda"), tmp_path, expect=1)
    assert "the NVIDIA driver is missing" in said
    assert "Try: install the NVIDIA driver" in said


def test_wrong_version_is_told_and_cpu_used(tmp_path):
    install_cuda(tmp_path, "0.1.2")
    said = run(LIST, tmp_path, PYTHONWARNINGS="default")
    assert "jax-cuda13-plugin and jaxlib have different versions" in said
    assert f'Try: pip install "jax-cuda13-plugin[with-cuda]=={xla.VERSION}"' in said
    assert "1 cpu" in said
    assert "different versions" in run(FORCED.format("cuda"), tmp_path, expect=1)


def test_library_without_its_extension(tmp_path):
    install(tmp_path, "jax_plugins.xla_cuda13", "xla_cuda_plugin.so")
    said = run(FORCED.format("gpu"), tmp_path, expect=1)
    assert "installed without jax-cuda13-plugin" in said


def test_library_that_cannot_be_opened(tmp_path):
    library = install(tmp_path, "jax_plugins.xla_rocm7", "xla_rocm_plugin.so")
    said = run(FORCED.format("rocm"), tmp_path, expect=1)
    assert "the rocm library cannot be loaded" in said
    assert str(library) in said
    assert run(LIST, tmp_path).split() == ["1", "cpu"]


def test_tpu_library_by_variable(tmp_path):
    said = run(FORCED.format("tpu"), TPU_LIBRARY_PATH=str(tmp_path / "no.so"), expect=1)
    assert "Try: unset TPU_LIBRARY_PATH" in said
    library = install(tmp_path, "libtpu", "libtpu.so")
    said = run(FORCED.format("tpu"), tmp_path, expect=1)
    assert f"library: {library}" in said


def test_report_of_a_broken_installation(tmp_path):
    install_cuda(tmp_path, "0.1.2")
    code = (
        "from numlift.runtime import plugins as p\n"
        "r = p.report()[0]; print(r.status, r.version, r.looked_for[0]); print(r.reason)"
    )
    said = run(code, tmp_path)
    assert said.startswith("broken 0.1.2 jax_plugins.xla_cuda13\n")
    assert "different versions" in said
