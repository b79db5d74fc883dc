"""How often verdicts against counted odds err, by simulation; run by hand, not by the tests (about a minute).

Prints, for experiments of m trials and n rollouts: the size of the test, that of the one-sample test that takes the
shares for the odds, false certificates at a true TV of 0.2, and the coverage of the population interval.
"""

from __future__ import annotations

import numpy as np

from worldodds.outcome import Reference
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.inversion import invert
from worldodds.statistics.observed import certified_between

REPEATS, CERTIFICATES, INTERVALS = 1000, 100_000, 150
CASES = {
    "coin": np.array([0.5, 0.5]),
    "bent": np.array([0.9, 0.1]),
    "three": np.array([0.6, 0.3, 0.1]),
    "skewed": np.array([0.02, 0.08, 0.2, 0.7]),
}


def far(p: np.ndarray, tv: float) -> list[np.ndarray]:
    """Odds at exactly this TV: mass moved from the likeliest to the rarest outcome, and spread over all others."""
    likely, rare = int(p.argmax()), int(p.argmin() if p.min() < p.max() else len(p) - 1)
    one = p.copy()
    one[likely] -= tv
    one[rare] += tv
    spread = p.copy()
    spread[likely] -= tv
    spread[np.arange(len(p)) != likely] += tv / (len(p) - 1)
    return [one, spread]


def main() -> None:
    """Print one line a case."""
    rng = np.random.default_rng(20261201)
    print("case     m   n  size one-sample false-certificate coverage")
    for name, p in CASES.items():
        for m, n in ((10, 20), (30, 32), (132, 32)):
            tests = [(rng.multinomial(n, p).tolist(), rng.multinomial(m, p).tolist()) for _ in range(REPEATS)]
            size = np.mean([multinomial_test(x, Reference.observed(e)).p_value <= 0.05 for x, e in tests])
            naive = np.mean(
                [multinomial_test(x, Reference.of((np.array(e) / m).tolist())).p_value <= 0.05 for x, e in tests]
            )
            false = max(
                np.mean(
                    certified_between(rng.multinomial(n, q, CERTIFICATES), rng.multinomial(m, p, CERTIFICATES), 0.05)
                    < 0.2 - 1e-12
                )
                for q in far(p, 0.2)
            )
            q, covered = far(p, 0.2)[0], 0
            for _ in range(INTERVALS):
                reference = Reference.observed(rng.multinomial(m, p).tolist())
                found = invert([(rng.multinomial(n, q), reference)], rng=rng, repeats=300).mean.interval
                covered += found.low <= 0.2 <= found.high
            print(f"{name:7} {m:3} {n:3} {size:.3f} {naive:.3f} {false:.4f} {covered / INTERVALS:.2f}", flush=True)


if __name__ == "__main__":
    main()
