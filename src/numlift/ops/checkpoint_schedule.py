"""Where a loop keeps states for its backward pass: binomial checkpointing.

With s states in memory (the initial one among them), a chain of

    beta(s, r) = (s + r)! / (s! r!)

steps can be reversed so that no step is taken more than r times before its derivative is due;
r is the repetition number, and no scheme does better. `loop_slots.Slots.distance` is the split of
the optimal schedule for a known number of steps. A forward pass does not know how many steps it
will take. It therefore works in stages: stage t covers the steps up to beta(s, t) - 1, and its
first segment is all of stage t - 1, whose states give their places to those of stage t one by one.
So however many steps are taken, the repetition number is the least possible.

Sources: A. Griewank, A. Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000), for the optimal
split; Q. Wang, P. Moin, G. Iaccarino, "Minimal repetition dynamic checkpointing algorithm for
unsteady adjoint calculation", SIAM J. Sci. Comput. 31 (2009), for what an unknown number of steps
costs; P. Stumm, A. Walther, "New algorithms for optimal online checkpointing", SIAM J. Sci. Comput.
32 (2010).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

LARGEST = 2**31 - 1
DEFAULT_REPETITIONS = 2


def reach(states: int, repetitions: int) -> int:
    """beta(states, repetitions): the longest chain that can be reversed."""
    return math.comb(states + repetitions, repetitions)


def repetitions(steps: int, checkpoints: int) -> int:
    """How often a step is taken at most, before its derivative, if `steps` are taken.

    Args:
        steps: number of steps.
        checkpoints: states that are kept besides the initial one.
    """
    r = 1
    while reach(checkpoints + 1, r) <= steps:
        r += 1
    return r


@lru_cache(maxsize=256)
def default_checkpoints(max_steps: int) -> int:
    """The fewest checkpoints with which no step is taken more than `DEFAULT_REPETITIONS` times."""
    few = 1
    while reach(few + 1, DEFAULT_REPETITIONS) <= max_steps:
        few += 1
    return min(few, usable(max_steps))


def usable(max_steps: int) -> int:
    """With more checkpoints than this every state is kept anyway."""
    return max(1, max_steps - 1)


@lru_cache(maxsize=256)
def reach_table(max_steps: int, checkpoints: int) -> np.ndarray:
    """beta(s, r) at [s, r] for all s and r that the schedule of a loop asks for, as int32."""
    last = repetitions(max_steps, checkpoints) + 1
    table = np.ones((checkpoints + 2, last + 1), np.int64)
    for s in range(1, checkpoints + 2):
        # beta(s, r) = beta(s - 1, 0) + ... + beta(s - 1, r)
        table[s] = np.minimum(np.cumsum(table[s - 1]), LARGEST)
    return table.astype(np.int32)
