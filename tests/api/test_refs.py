"""Mutable arrays: eager use, arguments and captured values of jit, copies, errors."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.experimental import checkify, serialize_executable


def value(ref: Any) -> numpy.ndarray:
    return numpy.asarray(ref[...])


def put(ref: Any, index: Any, x: Any) -> None:
    ref[index] = x


INDICES = [
    ...,
    0,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(None, None, -1),
    (slice(None), 1),
    (1, slice(0, 2)),
    (..., 0),
    (2, 1),
    [0, 2],
    (numpy.array([0, 2]), slice(1, None)),
    numpy.array([True, False, True, False]),
    (None, 1),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("staged", [False, True])
def test_reading_and_writing_is_that_of_numpy(index: Any, staged: bool) -> None:
    if isinstance(index, list):
        index = numpy.array(index)
    x = numpy.arange(12.0, dtype=numpy.float32).reshape(4, 3)
    ref = nl.new_ref(x)

    def change(ref: Any) -> Any:
        before = ref[index]
        ref[index] = 2 * before + 1
        ref[index] += 3.0
        return before

    before = nl.jit(change)(ref) if staged else change(ref)
    numpy.testing.assert_array_equal(before, x[index])
    wanted = x.copy()
    wanted[index] = 2 * wanted[index] + 1
    wanted[index] += 3
    numpy.testing.assert_array_equal(value(ref), wanted)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool", "complex64", "bfloat16"])
def test_dtypes(dtype: str) -> None:
    ref = nl.new_ref(np.zeros((2, 2), dtype))
    ref[0, 0] = True
    nl.jit(lambda ref: put(ref, (1, 1), True))(ref)
    assert ref.dtype == np.zeros(1, dtype).dtype
    assert (ref.shape, ref.ndim, ref.size, len(ref)) == ((2, 2), 2, 4, 2)
    numpy.testing.assert_array_equal(value(ref).astype(complex), numpy.eye(2))


def test_rank_0_and_weak_types() -> None:
    ref = nl.new_ref(3)
    assert ref.weak_type and ref.shape == ()
    ref[...] += 1
    ref[()] = ref[()] * 2
    assert int(ref[...]) == 8 and ref[...].weak_type
    with pytest.raises(errors.ArgumentError, match="no length"):
        len(ref)


def test_random_keys() -> None:
    ref = nl.new_ref(nl.random.key(0))

    @nl.jit
    def draw(ref: Any) -> Any:
        ref[...], key = nl.random.split(ref[...])
        return nl.random.uniform(key)

    key = nl.random.key(0)
    for _ in range(3):
        key, now = nl.random.split(key)
        assert float(draw(ref)) == float(nl.random.uniform(now))
    assert draw.stats().traces == 1


def test_functions_of_the_module_ref() -> None:
    ref = nl.ref.new_ref(np.arange(4.0))
    assert isinstance(ref, nl.Ref)
    assert not isinstance(ref, nl.Array)
    assert float(nl.ref.swap(ref, 1, 7.0)) == 1.0
    nl.ref.set(ref, None, nl.ref.get(ref) * 2)
    nl.ref.addupdate(ref, np.array([0, 0]), 1.0)
    ref.addupdate(1.0)
    ref.addupdate(1.0, slice(2, None))
    numpy.testing.assert_array_equal(nl.ref.get(ref, slice(0, 3)), [3, 15, 6])
    numpy.testing.assert_array_equal(nl.ref.freeze(ref), [3, 15, 6, 8])
    for use in (nl.ref.get, nl.ref.freeze):
        with pytest.raises(errors.ArgumentError, match="expected a Ref"):
            use(np.ones(2))


def test_values_that_were_read_or_given_do_not_change() -> None:
    x = np.zeros(3)
    ref = nl.new_ref(x)
    reads = [ref[...], ref[:], nl.ref.get(ref), *ref]
    ref[...] = y = np.ones(3)
    ref[0] = 5.0
    again = nl.vmap(lambda ref: ref[...])(ref)
    _, back = nl.vjp(lambda z: (z * ref[...]).sum(), np.ones(3))
    ref[1] = 6.0
    for kept in reads[:3]:
        numpy.testing.assert_array_equal(kept, [0, 0, 0])
    assert [float(r) for r in reads[3:]] == [0, 0, 0]
    numpy.testing.assert_array_equal(x, [0, 0, 0])
    numpy.testing.assert_array_equal(y, [1, 1, 1])
    numpy.testing.assert_array_equal(again, [5, 1, 1])
    numpy.testing.assert_array_equal(back(1.0)[0], [5, 1, 1])
    nl.jit(lambda x: x + 1, donate_argnums=0)(ref[...])
    numpy.testing.assert_array_equal(value(ref), [5, 6, 1])


def test_jit_takes_other_refs_without_tracing_again() -> None:
    @nl.jit
    def add(ref: Any, i: Any, x: Any) -> Any:
        ref[i] += x
        return ref[0]

    a, b = nl.new_ref(np.zeros(3)), nl.new_ref(np.ones(3))
    for ref in (a, b, a):
        add(ref, 1, 2.0)
    assert float(add(b, 0, 3.0)) == 4
    numpy.testing.assert_array_equal(value(a), [0, 4, 0])
    numpy.testing.assert_array_equal(value(b), [4, 3, 1])
    assert add.stats().traces == add.stats().programs == 1
    add(nl.new_ref(np.zeros(4)), 1, 1.0)
    assert add.stats().traces == 2


def test_jit_sees_the_value_that_a_captured_ref_has_now() -> None:
    ref = nl.new_ref(np.arange(3.0))

    @nl.jit
    def f(x: Any) -> Any:
        ref[0] += x
        return ref[...].sum()

    assert [float(f(1.0)) for _ in range(3)] == [4, 5, 6]
    ref[...] = 0.0
    assert float(f(np.float32(2.0))) == 2
    assert float(f(numpy.float32(2.0))) == 4
    assert f.stats().traces <= 2
    assert float(ref[0]) == 4


def test_nested_jit_in_any_mixture() -> None:
    outer = nl.new_ref(np.zeros(2))

    @nl.jit
    def inner(ref: Any, x: Any) -> Any:
        ref[0] += x
        outer[1] += 1
        return ref[0]

    @nl.jit
    def both(ref: Any, x: Any) -> Any:
        made = nl.new_ref(np.ones(2))
        return inner(ref, x) + inner(made, x) + made[0] + outer[1]

    ref = nl.new_ref(np.zeros(2))
    assert float(both(ref, 3.0)) == 3 + 4 + 4 + 2
    assert float(both(ref, 3.0)) == 6 + 4 + 4 + 4
    numpy.testing.assert_array_equal(value(outer), [0, 4])
    numpy.testing.assert_array_equal(value(ref), [6, 0])


@nl.tree_util.register_dataclass
@dataclass
class State:
    weights: Any
    count: Any


def test_refs_in_containers() -> None:
    state = State(nl.new_ref(np.ones(2)), {"n": nl.new_ref(0)})

    @nl.jit
    def step(state: State, *, scale: Any) -> None:
        state.weights[...] *= scale
        state.count["n"][...] += 1

    for _ in range(3):
        step(state, scale=2.0)
    numpy.testing.assert_array_equal(value(state.weights), [8, 8])
    assert int(state.count["n"][...]) == 3 and step.stats().traces == 1
    frozen = nl.tree.map(nl.freeze, state)
    assert int(frozen.count["n"]) == 3


def test_static_and_donated_refs() -> None:
    ref = nl.new_ref(np.zeros(2))
    nl.jit(lambda ref: put(ref, 0, 1.0), static_argnums=0)(ref)
    nl.jit(lambda ref, x: put(ref, 1, x), donate_argnums=0)(ref, 2.0)
    numpy.testing.assert_array_equal(value(ref), [1, 2])
    x = np.ones(2)
    nl.jit(lambda ref, x: put(ref, ..., x) or x * 2, donate_argnums=1)(ref, x)
    assert x.is_deleted()
    numpy.testing.assert_array_equal(value(ref), [1, 1])


def test_disable_jit() -> None:
    ref = nl.new_ref(np.zeros(2))
    with nl.disable_jit():
        ref[0] = 1.0
        nl.jit(lambda ref: put(ref, 1, 2.0))(ref)
    numpy.testing.assert_array_equal(value(ref), [1, 2])


def test_copies() -> None:
    ref = nl.new_ref(np.arange(2.0))
    others = [copy.copy(ref), copy.deepcopy([ref])[0], pickle.loads(pickle.dumps(ref))]
    ref[0] = 9.0
    for other in others:
        assert isinstance(other, nl.Ref)
        numpy.testing.assert_array_equal(value(other), [0, 1])


def test_text() -> None:
    ref = nl.new_ref(np.zeros(2))
    assert repr(ref) == "Ref([0., 0.], dtype=float32)"
    shown = []
    nl.jit(lambda a: shown.extend([repr(a), repr(ref)]))(nl.new_ref(1))
    assert shown == ["Ref(~int32[]) in jit(<lambda>)", "Ref(float32[2])"]
    nl.freeze(ref)
    assert repr(ref) == "Ref(float32[2], frozen)"


def test_threads() -> None:
    ref = nl.new_ref(np.zeros(4))
    step = nl.jit(lambda ref, i: ref.addupdate(1.0, i))
    step(ref, 0)

    def work(i: int) -> None:
        for _ in range(50):
            step(ref, i)
            ref.addupdate(1.0, i)
            ref[i]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    numpy.testing.assert_array_equal(value(ref), [101, 100, 100, 100])


def test_sharded_refs() -> None:
    mesh = nl.make_mesh((len(nl.devices()),), ("x",))
    where = nl.NamedSharding(mesh, nl.P("x"))
    n = 4 * len(nl.devices())
    ref = nl.new_ref(nl.device_put(np.arange(float(n)), where))
    assert ref.sharding == where
    ref[1] = 5.0
    step = nl.jit(lambda ref: put(ref, ..., ref[...] * 2))
    for _ in range(3):
        step(ref)
    assert ref.sharding == where and step.stats().programs == 1
    wanted = numpy.arange(float(n))
    wanted[1] = 5
    numpy.testing.assert_array_equal(value(ref), wanted * 8)


def test_debug_nans() -> None:
    ref = nl.new_ref(np.zeros(2))
    with nl.debug_nans(True):
        nl.jit(lambda ref: put(ref, 0, 1.0))(ref)
        with pytest.raises(FloatingPointError, match="div made the first NaN"):
            nl.jit(lambda ref: put(ref, 1, ref[1] / ref[1]))(ref)
    assert float(ref[0]) == 1


def test_retraces_show_refs() -> None:
    f = nl.jit(lambda ref: ref[0])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for n in range(1, 6):
            f(nl.new_ref(np.zeros(n)))
    (warning,) = [w for w in found if w.category is nl.RetraceWarning]
    assert "Ref{float32[3]} -> Ref{float32[4]}" in str(warning.message)


def test_stages() -> None:
    captured, ref = nl.new_ref(np.zeros(2)), nl.new_ref(np.ones(3))

    @nl.jit
    def f(ref: Any, x: Any) -> Any:
        ref[0] = captured[1] = x
        return ref[...] * x

    lowered = f.lower(ref, 2.0)
    assert lowered.out_info.shape == (3,)
    compiled = lowered.compile()
    numpy.testing.assert_array_equal(compiled(ref, 3.0), [9, 3, 3])
    numpy.testing.assert_array_equal(value(ref), [3, 1, 1])
    numpy.testing.assert_array_equal(value(captured), [0, 3])
    with pytest.raises(errors.ArgumentError, match="refs are not where they were"):
        compiled(np.ones(3), 3.0)
    assert nl.eval_shape(f, ref, 4.0).shape == (3,)
    graph = nl.make_jaxpr(f)(ref, 4.0)
    assert len(graph.inputs) == 3 and len(graph.outputs) == 3
    numpy.testing.assert_array_equal(value(ref), [3, 1, 1])
    with pytest.raises(errors.RefError, match="uses refs"):
        nl.export.export(f)(ref, 4.0)
    with pytest.raises(errors.RefError, match="uses refs"):
        serialize_executable.serialize(compiled)


def test_checkify() -> None:
    ref = nl.new_ref(np.zeros(2))

    def f(ref: Any, x: Any) -> Any:
        ref[0] = x
        checkify.check(ref[0] > 0, "negative")
        return x

    for g in (f, nl.jit(f)):
        error, _ = checkify.checkify(g)(ref, 2.0)
        assert error.get() is None and float(ref[0]) == 2
        error, _ = checkify.checkify(g)(ref, -2.0)
        assert "negative" in error.get() and float(ref[0]) == -2


def test_autostage() -> None:
    ref = nl.new_ref(np.zeros(3))

    def f(x: Any, other: Any) -> Any:
        if x > 0:
            ref[0] = x
        else:
            ref[0] = -x
            other[1] = x
        n = 0
        while ref[0] < 20:
            ref[0] *= 2
            if ref[0] > 8:
                other[0] += 1
            n += 1
        for i in range(n):
            ref[2] += i
        return ref[...]

    for x in (3.0, -3.0):
        found = []
        for g in (f, nl.jit(f, autostage=True)):
            ref[...] = 0.0
            other = nl.new_ref(np.zeros(2))
            found.append([numpy.asarray(g(x, other)), value(ref), value(other)])
        for a, b in zip(*found, strict=True):
            numpy.testing.assert_array_equal(a, b)


def test_a_ref_can_be_used_after_a_program_with_it_failed() -> None:
    def fails(x):
        raise ZeroDivisionError

    @nl.jit
    def changes(ref):
        ref[...] = ref[...] + 1
        ref[0] = nl.pure_callback(fails, nl.ShapeDtypeStruct((), "float32"), ref[0])

    ref = nl.new_ref(np.zeros(3))
    with pytest.raises(ZeroDivisionError):
        changes(ref)
    assert "deleted" in repr(ref)
    uses = [
        lambda: ref[...],
        lambda: ref[0],
        lambda: ref.__setitem__(0, 1.0),
        lambda: nl.ref.addupdate(ref, ..., 1.0),
        lambda: nl.jit(lambda r: r[...])(ref),
        lambda: nl.jit(lambda: ref[...])(),
    ]
    for use in uses:
        with pytest.raises(errors.RefError, match="lost its value"):
            use()
    ref[...] = 7.0
    ref[1] += 1.0
    numpy.testing.assert_array_equal(ref[...], [7, 8, 7])


def test_no_refs_of_float0() -> None:
    with pytest.raises(errors.DTypeError, match="float0"):
        nl.new_ref(numpy.zeros(3, nl.dtypes.float0))
