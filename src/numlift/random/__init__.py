"""Random numbers from typed keys: the same key always gives the same numbers.

Every function takes a key and uses it up; `split` makes new ones. Numbers depend on the key, the
shape and the dtype only, not on devices, sharding or whether the call is compiled.
"""

from __future__ import annotations

from .continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    wald,
    weibull_min,
)
from .counts import binomial, multinomial, poisson
from .discrete import (
    bernoulli,
    categorical,
    choice,
    geometric,
    permutation,
    rademacher,
    randint,
)
from .gamma import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from .gaussian import multivariate_normal
from .keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from .uniform import bits, normal, uniform
from .vectors import orthogonal
