"""Simulated nights of one noisy series, as logarithms: what the detection of changes is tried on.

Modelled on times of one run on an H100: confidence intervals of ± 0.1 % to ± 1 %, times in
multiples of 32 ns (0.5 % of a kernel of 6.8 us, 1.2 % of one of 2.7 us). How times differ from
night to night, drift and jump out is assumed: no series of nights has been recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TICK_US = 0.032
OUTLIERS = 0.01  # of the nights
LARGEST_OUTLIER = 0.5  # relative


@dataclass(frozen=True, slots=True)
class Kind:
    """`noise`: standard deviation from night to night, relative. `drift`: relative, in a year.
    `walk`: standard deviation of a random walk's steps. `time_us`: a time so short that it is
    measured in ticks; 0: without ticks. `slow_state`: a clock state 2 % slower, taken by a
    quarter of the nights at random. `noisier`: the noise of the second half is twice as large."""

    name: str
    noise: float
    drift: float = 0.0
    walk: float = 0.0
    time_us: float = 0.0
    slow_state: bool = False
    noisier: bool = False


KINDS = (
    Kind("noise 0.2 %", 0.002),
    Kind("noise 0.5 %", 0.005),
    Kind("noise 1 %", 0.01),
    Kind("noise 2 %", 0.02),
    Kind("0.5 %, drift of 3 % a year", 0.005, drift=0.03),
    Kind("0.5 %, random walk", 0.005, walk=0.0005),
    Kind("0.2 %, 6.8 us in ticks", 0.002, time_us=6.8),
    Kind("0.2 %, 2.7 us in ticks", 0.002, time_us=2.7),
    Kind("0.5 %, two clock states", 0.005, slow_state=True),
    Kind("0.5 %, then 1 %", 0.005, noisier=True),
)


def simulated(
    kind: Kind, nights: int, rng: np.random.Generator, shift: float = 0.0, at: int = 0
) -> np.ndarray:
    """Logarithms of a series whose level is `shift` (relative) higher from night `at` on."""
    logs = rng.normal(0, kind.noise, nights)
    if kind.noisier:
        logs[nights // 2 :] *= 2
    logs += rng.choice((-1, 1)) * np.linspace(0, kind.drift * nights / 365, nights)
    logs += np.cumsum(rng.normal(0, kind.walk, nights))
    logs += 0.02 * (kind.slow_state and rng.random(nights) < 0.25)
    logs[at:] += np.log1p(shift)
    disturbed = rng.random(nights) < OUTLIERS
    logs[disturbed] += np.log1p(rng.uniform(0, LARGEST_OUTLIER, disturbed.sum()))
    if kind.time_us:
        level = kind.time_us * rng.uniform(0.95, 1.05)  # anywhere between two ticks
        logs = np.log(np.round(level * np.exp(logs) / TICK_US) * TICK_US)
    return logs
