"""Samples follow their distributions: Kolmogorov-Smirnov and chi-square tests with fixed keys."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest
from scipy import special, stats

import numlift as nl
from numlift import random

N = 20000
CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, (N,), minval=-2.0, maxval=3.0), stats.uniform(-2, 5)),
    "normal": (lambda k: random.normal(k, (N,)), stats.norm()),
    "truncated_normal": (
        lambda k: random.truncated_normal(k, -1.0, 2.0, (N,)),
        stats.truncnorm(-1, 2),
    ),
    "exponential": (lambda k: random.exponential(k, (N,)), stats.expon()),
    "gumbel": (lambda k: random.gumbel(k, (N,)), stats.gumbel_r()),
    "gumbel high": (lambda k: random.gumbel(k, (N,), mode="high"), stats.gumbel_r()),
    "laplace": (lambda k: random.laplace(k, (N,)), stats.laplace()),
    "logistic": (lambda k: random.logistic(k, (N,)), stats.logistic()),
    "cauchy": (lambda k: random.cauchy(k, (N,)), stats.cauchy()),
    "pareto": (lambda k: random.pareto(k, 2.0, (N,)), stats.pareto(2)),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), stats.rayleigh(scale=2)),
    "weibull_min": (
        lambda k: random.weibull_min(k, 2.0, 3.0, (N,)),
        stats.weibull_min(3, scale=2),
    ),
    "maxwell": (lambda k: random.maxwell(k, (N,)), stats.maxwell()),
    "double_sided_maxwell": (
        lambda k: abs(random.double_sided_maxwell(k, 0.0, 1.0, (N,))),
        stats.maxwell(),
    ),
    "lognormal": (lambda k: random.lognormal(k, 1.5, (N,)), stats.lognorm(1.5)),
    "triangular": (lambda k: random.triangular(k, 0.0, 1.0, 3.0, (N,)), stats.triang(1 / 3, 0, 3)),
    "wald": (lambda k: random.wald(k, 2.0, (N,)), stats.invgauss(2)),
    "gamma 0.1": (lambda k: random.gamma(k, 0.1, (N,)), stats.gamma(0.1)),
    "gamma 1": (lambda k: random.gamma(k, 1.0, (N,)), stats.gamma(1)),
    "gamma 30": (lambda k: random.gamma(k, 30.0, (N,)), stats.gamma(30)),
    "loggamma": (lambda k: random.loggamma(k, 0.3, (N,)), stats.loggamma(0.3)),
    "beta": (lambda k: random.beta(k, 2.0, 3.0, (N,)), stats.beta(2, 3)),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (N,)), stats.chi2(3)),
    "f": (lambda k: random.f(k, 3.0, 4.0, (N,)), stats.f(3, 4)),
    "t": (lambda k: random.t(k, 3.0, (N,)), stats.t(3)),
    "generalized_normal": (
        lambda k: random.generalized_normal(k, 1.5, (N,)),
        stats.gennorm(1.5),
    ),
    "dirichlet": (
        lambda k: random.dirichlet(k, numpy.array([1.0, 2.0, 3.0]), (N,))[:, 1],
        stats.beta(2, 4),
    ),
    "ball": (
        lambda k: (random.ball(k, 3, shape=(N,)) ** 2).sum(-1) ** 1.5,
        stats.uniform(),
    ),
}
DISCRETE = {
    "randint": (lambda k: random.randint(k, (N,), -3, 8), stats.randint(-3, 8)),
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (N,)), stats.bernoulli(0.3)),
    "bernoulli high": (
        lambda k: random.bernoulli(k, 0.3, (N,), mode="high"),
        stats.bernoulli(0.3),
    ),
    "geometric": (lambda k: random.geometric(k, 0.3, (N,)), stats.geom(0.3)),
    "categorical": (
        lambda k: random.categorical(k, numpy.log(numpy.array([0.3, 0.7])), shape=(N,)),
        stats.bernoulli(0.7),
    ),
    "poisson 3": (lambda k: random.poisson(k, 3.0, (N,)), stats.poisson(3)),
    "poisson 50": (lambda k: random.poisson(k, 50.0, (N,)), stats.poisson(50)),
    "binomial small": (lambda k: random.binomial(k, 10, 0.8, (N,)), stats.binom(10, 0.8)),
    "binomial large": (lambda k: random.binomial(k, 1000, 0.3, (N,)), stats.binom(1000, 0.3)),
    "multinomial": (
        lambda k: random.multinomial(k, 9, numpy.array([0.2, 0.3, 0.5]), shape=(N, 3))[:, 1],
        stats.binom(9, 0.3),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, distribution = CONTINUOUS[name]
    found = numpy.asarray(draw(random.key(11)), numpy.float64)
    assert stats.kstest(found, distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, distribution = DISCRETE[name]
    found = numpy.asarray(draw(random.key(11))).astype(int)
    values = numpy.arange(int(distribution.ppf(1e-3)), int(distribution.ppf(1 - 1e-3)) + 1)
    seen = numpy.array([(found == v).sum() for v in values])
    wanted = distribution.pmf(values) * N
    often = wanted > 5
    rest = N - wanted[often].sum()
    seen, wanted = seen[often], wanted[often]
    if rest > 5:
        seen, wanted = numpy.append(seen, N - seen.sum()), numpy.append(wanted, rest)
    assert stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-3


def test_shuffles_are_uniform():
    keys = random.split(random.key(0), 6000)
    orders = numpy.asarray(nl.vmap(lambda k: random.permutation(k, 3))(keys))
    codes = orders @ [9, 3, 1]
    counts = numpy.unique(codes, return_counts=True)[1]
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > 1e-3


def test_edges_of_parameters():
    key = random.key(0)
    found = random.gamma(key, numpy.array([0.0, -1.0, numpy.nan, numpy.inf]))
    npt.assert_array_equal(found, [0, numpy.nan, numpy.nan, numpy.inf])
    found = random.poisson(key, numpy.array([0.0, -1.0, numpy.nan, numpy.inf]))
    npt.assert_array_equal(found, [0, -1, -1, -1])
    found = random.binomial(key, numpy.array([0.0, -1, 10, 10]), numpy.array([0.5, 0.5, 0, 1]))
    npt.assert_array_equal(found, [0, numpy.nan, 0, 10])
    npt.assert_array_equal(random.randint(key, (3,), 5, 5), [5, 5, 5])
    full = numpy.asarray(random.randint(key, (4000,), -128, 128, "int8"))
    assert full.min() == -128 and full.max() == 127
    assert random.normal(key, (0, 3)).shape == (0, 3)


def test_derivatives_by_reparametrisation():
    key = random.key(0)
    slope = nl.grad(lambda a: random.gamma(key, a, (N,)).mean())(2.0)
    npt.assert_allclose(slope, 1, atol=0.05)  # the mean of a gamma number is a
    slope = nl.grad(lambda a: random.loggamma(key, a, (N,)).mean())(0.05)
    npt.assert_allclose(slope, special.polygamma(1, 0.05), rtol=0.05)
    low = nl.grad(lambda m: random.uniform(key, minval=m, maxval=1.0))(0.25)
    npt.assert_allclose(low, 1 - float(random.uniform(key)), rtol=1e-6)
