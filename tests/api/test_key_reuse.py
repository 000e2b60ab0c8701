"""debug_key_reuse: keys that are consumed twice are found, eagerly and in traced graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numlift as nl
import numlift.numpy as np_
from numlift import lax, random

REUSE = nl.errors.KeyReuseError


@pytest.fixture(autouse=True)
def _flag() -> Iterator[None]:
    with nl.debug_key_reuse(True):
        yield


def test_both_lines_are_named() -> None:
    key = random.key(0)
    random.normal(key)  # the first
    with pytest.raises(REUSE, match=r"twice") as info:
        random.uniform(key)  # the second
    first, second = [x for x in str(info.value).split("\n") if "use:" in x]
    assert "random.normal" in first and "# the first" in first
    assert "random.uniform" in second and "# the second" in second
    assert "Try: " in str(info.value)
    with pytest.raises(REUSE):  # it stays consumed
        random.split(key)


def test_what_consumes_eagerly() -> None:
    for use in (random.split, random.normal, random.bits, lambda k: random.gamma(k, 2.0)):
        key = random.key(1)
        use(key)
        with pytest.raises(REUSE):
            random.split(key)


def test_what_does_not_consume() -> None:
    key = random.key(1)
    a, b = random.fold_in(key, 1), random.fold_in(key, 1)
    random.normal(a), random.normal(b), random.normal(key)
    random.fold_in(key, 2), random.key_data(key), random.key_impl(key), repr(key)
    assert bool(key == key)
    nl.jit(lambda k: 0)(key)
    random.normal(random.clone(key)), random.normal(random.clone(key))
    random.normal(random.wrap_key_data(random.key_data(key)))
    with pytest.raises(REUSE):
        random.normal(key)
    raw = random.PRNGKey(0)
    random.normal(raw), random.normal(raw)  # raw words are no typed keys


def test_new_keys_with_equal_seeds_are_different_keys() -> None:
    for _ in range(2):
        random.normal(random.key(0))


def test_scope_and_flag_off() -> None:
    key = random.key(0)
    with nl.debug_key_reuse(False):
        random.normal(key), random.normal(key)
        assert random.clone(key) is key
    random.normal(key)
    with nl.debug_key_reuse(False):
        random.normal(key)
    with pytest.raises(REUSE):
        random.normal(key)


@pytest.mark.parametrize(
    "again",
    [
        lambda ks: ks[1],
        lambda ks: ks[-3],
        lambda ks: ks[1:3][0],
        lambda ks: ks.reshape(2, 2)[0, 1],
        lambda ks: list(ks)[1],
        lambda ks: ks[np.array([3, 1])][1],
        lambda ks: ks[np_.asarray(1)],
        lambda ks: np_.stack([ks[1], ks[0]])[0],
        lambda ks: np_.where(True, ks, random.clone(ks))[1],
        lambda ks: nl.jit(lambda ks, i: ks[i])(ks, 1),
        lambda ks: lax.dynamic_index_in_dim(ks, 1, keepdims=False),
        lambda ks: nl.jit(lambda x: np_.flip(x))(ks)[2],
        lambda ks: nl.device_put(ks)[1],
        lambda ks: lax.cond(True, lambda k: k[1], lambda k: random.clone(k[0]), ks),
        lambda ks: np_.roll(ks, 1)[2],
    ],
)
def test_elements_are_followed(again: Any) -> None:
    keys = random.split(random.key(0), 4)
    random.normal(keys[1])
    random.normal(keys[0])
    with pytest.raises(REUSE):
        random.normal(again(keys))


def test_disjoint_elements_are_different_keys() -> None:
    keys = random.split(random.key(0), 6)
    random.normal(keys[0]), random.normal(keys[1])
    nl.vmap(random.normal)(keys[2:4])
    a, b = keys[4:]
    random.normal(a), random.normal(b)
    with pytest.raises(REUSE):
        nl.vmap(random.normal)(keys[3:5])


def test_whole_array_after_an_element() -> None:
    keys = random.split(random.key(0), 3)
    random.normal(keys[2])
    with pytest.raises(REUSE):
        nl.vmap(random.normal)(keys)


STEPS = np.arange(3.0)


def _unrolled(key: Any) -> Any:
    def step(k: Any, _: Any) -> Any:
        return k, random.normal(k)

    return lax.scan(step, key, None, length=3)


@nl.custom_jvp
def _with_rule(key: Any) -> Any:
    return random.normal(key)


@_with_rule.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    return _with_rule(*primals), np.float32(0)


REUSED = {
    "twice": lambda k: random.normal(k) + random.uniform(k),
    "split and sample": lambda k: (random.split(k), random.normal(k)),
    "nested jit": lambda k: nl.jit(random.normal)(k) + nl.jit(random.normal)(k),
    "same element": lambda k: (lambda ks: random.normal(ks[0]) + random.normal(ks[0]))(
        random.split(k)
    ),
    "scan constant": lambda k: lax.scan(lambda c, x: (c + random.normal(k), x), 0.0, STEPS),
    "scan carry": _unrolled,
    "fori": lambda k: lax.fori_loop(0, 3, lambda i, x: x + random.normal(k), 0.0),
    "while body": lambda k: lax.while_loop(lambda c: c < 3, lambda c: c + random.normal(k), 0.0),
    "while cond": lambda k: lax.while_loop(lambda c: random.normal(k) > c, lambda c: c + 1, 0.0),
    "while carry": lambda k: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + random.normal(c[1]), c[1]), (0.0, k)
    ),
    "swapped carry": lambda k: lax.fori_loop(
        0, 9, lambda i, c: (c[1], c[0], c[2] + random.normal(c[0])), (*random.split(k), 0.0)
    ),
    "one branch": lambda k: (
        lax.cond(STEPS.sum() > random.key_data(k)[0], lambda k: random.normal(k), lambda k: 0.0, k)
        + random.normal(k)
    ),
    "inside a branch": lambda k: lax.cond(
        random.key_data(k)[0] > 0, lambda k: random.normal(k) + random.normal(k), lambda k: 0.0, k
    ),
    "vmap": lambda k: nl.vmap(lambda x: random.normal(k) + random.normal(k) + x)(STEPS),
    "after a loop": lambda k: (
        lax.scan(lambda c, k: (c + random.normal(k), None), 0.0, ks := random.split(k, 9)),
        random.normal(ks[8]),
    ),
    "dynamic index": lambda k: (lambda ks, i: random.normal(ks[i]) + random.normal(ks[i]))(
        random.split(k, 4), random.key_data(k)[1]
    ),
    "checkpoint": lambda k: nl.checkpoint(lambda k: random.normal(k))(k) + random.normal(k),
    "custom_jvp": lambda k: _with_rule(k) + random.normal(k),
    "gradient": lambda k: nl.grad(lambda x: x * random.normal(k))(1.0) + random.normal(k),
}


@pytest.mark.parametrize("name", REUSED)
@pytest.mark.parametrize("mode", ["eager", "jit", "trace"])
def test_reuse_is_found(name: str, mode: str) -> None:
    f, key = REUSED[name], random.key(0)
    with pytest.raises(REUSE):
        if mode == "trace":
            nl.jit(f).lower(key)
        else:
            (nl.jit(f) if mode == "jit" else f)(key)


def _chain(key: Any) -> Any:
    def step(k: Any, _: Any) -> Any:
        k, sub = random.split(k)
        return k, random.normal(sub)

    return lax.scan(step, key, None, length=5)


def _rejection(key: Any) -> Any:
    def body(c: Any) -> Any:
        key, sub = random.split(c[0])
        return key, random.normal(sub)

    return lax.while_loop(lambda c: c[1] < 0.5, body, (key, np.float32(0)))


FINE = {
    "scan over keys": lambda k: lax.scan(
        lambda c, k: (c + random.normal(k), None), 0.0, random.split(k, 9)
    ),
    "chain": _chain,
    "fold_in": lambda k: lax.fori_loop(
        0, 3, lambda i, x: x + random.normal(random.fold_in(k, i)), 0.0
    ),
    "both branches": lambda k: lax.cond(
        random.key_data(k)[0] > 0, random.normal, random.uniform, k
    ),
    "indexed in a loop": lambda k: (
        lambda ks: lax.fori_loop(0, 3, lambda i, x: x + random.normal(ks[i]), 0.0)
    )(random.split(k, 3)),
    "rejection": _rejection,
    "batched rejection": lambda k: nl.vmap(_rejection)(random.split(k, 4)),
    "one for a batch": lambda k: nl.vmap(lambda x: random.normal(k) + x)(STEPS),
    "checkpoint": lambda k: nl.grad(nl.checkpoint(lambda x: np_.sin(x * random.normal(k))))(1.0),
    "checkpoint without barrier": lambda k: nl.grad(
        nl.checkpoint(lambda x: np_.sin(x * random.normal(k)), prevent_cse=False)
    )(1.0),
    "checkpointed scan": lambda k: nl.grad(
        lambda x: lax.scan(
            nl.checkpoint(lambda c, k: (np_.sin(c * random.normal(k)), None)), x, random.split(k, 4)
        )[0]
    )(1.0),
    "batched gradient of checkpoint": lambda k: nl.vmap(
        nl.grad(nl.checkpoint(lambda x, k: np_.sin(x * random.normal(k))))
    )(STEPS, random.split(k, 3)),
    "one step": lambda k: lax.fori_loop(0, 1, lambda i, x: x + random.normal(k), 0.0),
}


@pytest.mark.parametrize("name", FINE)
@pytest.mark.parametrize("jit", [False, True])
def test_single_use_is_fine(name: str, jit: bool) -> None:
    f = FINE[name]
    (nl.jit(f) if jit else f)(random.key(0))


SAMPLERS = {
    "ball": lambda k: random.ball(k, 3),
    "bernoulli": random.bernoulli,
    "beta": lambda k: random.beta(k, 1.0, 2.0),
    "binomial": lambda k: random.binomial(k, 9, 0.2),
    "categorical": lambda k: random.categorical(k, np.zeros(3)),
    "cauchy": random.cauchy,
    "chisquare": lambda k: random.chisquare(k, 2.0),
    "choice": lambda k: random.choice(k, 9, (3,), replace=False),
    "dirichlet": lambda k: random.dirichlet(k, np.ones(3)),
    "double_sided_maxwell": lambda k: random.double_sided_maxwell(k, 0.0, 1.0),
    "exponential": random.exponential,
    "f": lambda k: random.f(k, 2.0, 3.0),
    "gamma": lambda k: random.gamma(k, 2.0, (3,)),
    "generalized_normal": lambda k: random.generalized_normal(k, 1.0),
    "geometric": lambda k: random.geometric(k, 0.5),
    "gumbel": random.gumbel,
    "laplace": random.laplace,
    "loggamma": lambda k: random.loggamma(k, 2.0),
    "logistic": random.logistic,
    "lognormal": random.lognormal,
    "maxwell": random.maxwell,
    "multinomial": lambda k: random.multinomial(k, 9, np.ones(3) / 3),
    "multivariate_normal": lambda k: random.multivariate_normal(k, np.zeros(2), np.eye(2)),
    "orthogonal": lambda k: random.orthogonal(k, 3),
    "pareto": lambda k: random.pareto(k, 2.0),
    "permutation": lambda k: random.permutation(k, 5),
    "poisson": lambda k: random.poisson(k, 20.0, (4,)),
    "rademacher": random.rademacher,
    "randint": lambda k: random.randint(k, (3,), 0, 5),
    "rayleigh": lambda k: random.rayleigh(k, 1.0),
    "t": lambda k: random.t(k, 2.0),
    "triangular": lambda k: random.triangular(k, 0.0, 0.5, 1.0),
    "truncated_normal": lambda k: random.truncated_normal(k, -1.0, 1.0),
    "wald": lambda k: random.wald(k, 1.0),
    "weibull_min": lambda k: random.weibull_min(k, 1.0, 2.0),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_use_each_key_once(name: str) -> None:
    key = random.key(3)
    SAMPLERS[name](key)
    with pytest.raises(REUSE):
        SAMPLERS[name](key)


def test_results_of_a_program_keep_their_use() -> None:
    def f(k: Any) -> Any:
        a, b = random.split(k)
        random.normal(a)
        return a, b

    a, b = nl.jit(f)(random.key(0))
    random.normal(b)
    with pytest.raises(REUSE):
        random.normal(a)


def test_arguments_that_are_one_key() -> None:
    f = nl.jit(lambda a, b: random.normal(a) + random.normal(b))
    f(*random.split(random.key(0)))
    key = random.key(0)
    with pytest.raises(REUSE):
        f(key, key)


def test_captured_key() -> None:
    key = random.key(0)
    f = nl.jit(lambda: random.normal(key))
    f()
    with pytest.raises(REUSE):
        f()


def test_numbers_are_the_same_with_the_flag() -> None:
    got = nl.jit(_chain)(random.key(0))[1]
    with nl.debug_key_reuse(False):
        want = nl.jit(_chain)(random.key(0))[1]
    np.testing.assert_array_equal(got, want)


def test_with_debug_nans() -> None:
    with nl.debug_nans(True):
        key = random.key(0)
        random.normal(key)
        with pytest.raises(REUSE):
            random.normal(key)
        with pytest.raises(FloatingPointError):
            nl.jit(lambda k: random.normal(k) * np.nan)(random.key(0))


def test_marks_are_forgotten_with_the_arrays() -> None:
    from numlift.runtime import key_marks

    before = len(key_marks.used)
    for _ in range(5):
        random.normal(random.key(0))
    assert len(key_marks.used) <= before + 1


def test_disable_jit() -> None:
    with nl.disable_jit():
        key = random.key(0)
        nl.jit(random.normal)(key)
        with pytest.raises(REUSE):
            random.normal(key)
