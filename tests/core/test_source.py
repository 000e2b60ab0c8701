"""Where in the user's program an operation was written."""

from __future__ import annotations

import numlift as nl
import numlift.numpy as np
from numlift.core import source
from numlift.core.source import Location, describe, internal_files, locate, user_site


def site_here() -> source.Source | None:
    return user_site()


def test_locate_finds_the_line() -> None:
    place = locate(site_here())
    assert place is not None
    assert place.filename == __file__
    assert place.function == "site_here"
    assert place.text == "return user_site()"
    assert str(place) == f"{__file__}:{place.line} (site_here)"


def test_describe_shows_the_source_line() -> None:
    assert describe(site_here()).endswith("(site_here): return user_site()")
    assert describe(None) == "unknown place"
    assert locate(None) is None


def test_code_without_a_file() -> None:
    namespace = {"user_site": user_site}
    exec(compile("site = user_site()", "<typed by hand>", "exec"), namespace)
    text = describe(namespace["site"])
    assert text == "<typed by hand>:1 (<module>)"


def test_files_of_the_package_are_internal() -> None:
    assert internal_files[source.__file__]
    assert internal_files["<frozen importlib._bootstrap>"]
    assert not internal_files[__file__]


def test_equations_name_the_line_of_the_user() -> None:
    def f(x):
        y = np.sin(x)
        return y * 2.0

    equations = nl.make_jaxpr(f)(1.0).equations
    assert [locate(eq.source).text for eq in equations] == ["y = np.sin(x)", "return y * 2.0"]


def test_derivatives_name_the_line_too() -> None:
    def f(x):
        return np.sin(x) * x

    graph = nl.make_jaxpr(nl.grad(f))(1.0)
    texts = {locate(eq.source).text for eq in graph.equations}
    assert "return np.sin(x) * x" in texts


def test_location_of_a_missing_file_has_no_text() -> None:
    assert Location("/nowhere/at/all.py", 3, "f").text == ""
