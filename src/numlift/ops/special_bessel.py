"""The scaled modified Bessel function of order 0 in StableHLO text.

Source: Clenshaw, "Chebyshev series for mathematical functions" (1962), for the two intervals; the
coefficients were computed from the power and asymptotic series in extended precision.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elementwise_text import Term

# exp(-x) I0(x) on 0 <= x <= 8, in T_k(x / 4 - 1).
SMALL = (
    0.33839763720473803,
    -0.3046826723431984,
    0.17162090152220877,
    -0.09490109704804764,
    0.04930528423967071,
    -0.02373741480589947,
    0.010546460394594998,
    -0.004324309995050576,
    0.001639475616941336,
    -0.0005763755745385825,
    0.00018850288509584173,
    -5.7541950100821114e-05,
    1.6448448070729072e-05,
    -4.416738358458799e-06,
    1.1173875391202028e-06,
    -2.670793853939697e-07,
    6.04699502254727e-08,
    -1.3000250099961132e-08,
    2.6598237248939753e-09,
    -5.189795603411773e-10,
    9.675809072148475e-11,
    -1.7268263094406473e-11,
    2.9550530506730275e-12,
    -4.856447383995432e-13,
    7.67613471158897e-14,
    -1.1685461897160271e-14,
    1.7149096812746345e-15,
    -2.434006772175645e-16,
    3.3160323445469156e-17,
    -4.1958624075189025e-18,
    -4.0657581468206416e-20,
)
# sqrt(x) exp(-x) I0(x) on x >= 8, in T_k(16 / x - 1).
LARGE = (
    0.4022452055070544,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347694e-06,
    2.048918589469229e-07,
    2.2666689904904906e-08,
    3.3962320256625557e-09,
    4.940602388620113e-10,
    1.1889147077861345e-11,
    -3.14991652896329e-11,
    -1.3215811754775536e-11,
    -1.7941785752408068e-12,
    7.180124378811219e-13,
    3.8527787550301597e-13,
    1.540082713412614e-14,
    -4.1505704038644063e-14,
    -9.554806309578872e-15,
    3.811631096109954e-15,
    1.7726280874287108e-15,
    -3.4252115033162054e-16,
    -2.828041981729294e-16,
    3.4705311541261e-17,
    4.4536314740273306e-17,
    -4.503956524866866e-18,
    -7.369864267470216e-18,
    9.793959624785723e-19,
)


def clenshaw(t: Term, coefficients: Sequence[float]) -> Term:
    """sum of coefficients[k] T_k(t), by Clenshaw's recurrence."""
    double = t + t
    first, second = t.constant(coefficients[-1]), t.constant(0.0)
    for c in reversed(coefficients[1:-1]):
        first, second = double * first - second + c, first
    return t * first - second + coefficients[0]


def i0e(x: Term) -> Term:
    """exp(-|x|) I0(x)."""
    size = abs(x)
    small = clenshaw(size * 0.25 - 1.0, SMALL if x.type.dtype.itemsize == 8 else SMALL[:19])
    far = (size > 8.0).where(size, 8.0)
    large = clenshaw(16.0 / far - 1.0, LARGE if x.type.dtype.itemsize == 8 else LARGE[:8])
    return (size <= 8.0).where(small, large / far.sqrt())
