"""Know what you will see before you pay, and stop paying once you have seen it."""

import numpy as np

from worldodds import find_suite
from worldodds.statistics import Monitor, StoppingRule, detectable_tv, rollouts_needed, spiked

die = find_suite("calibench").scene("dice").reference
assert die is not None
print(f"32 rollouts of a die show a TV of {detectable_tv(die, 32):.2f} with power 0.8")
print(f"to see a TV of 0.20: {rollouts_needed(die, tv=0.2)}; to certify within 0.20: {rollouts_needed(die, delta=0.2)}")

rng = np.random.default_rng(0)
rule = StoppingRule(horizon=100, early_e=100, final_level=0.04, delta=0.2)
for name, tv in (("collapsed", 0.75), ("off by 0.3", 0.3), ("calibrated", 0.0)):
    odds = spiked(die, tv)
    cell = Monitor(reference=die, rule=rule)
    while cell.worth_buying:  # here you would film one more clip and read it
        cell.feed(int(rng.choice(die.k, p=odds)))
    e_value = np.exp(cell.max_log_e)
    print(f"{name}: {cell.verdict} after {cell.used} rollouts ({cell.stopped_by}), largest e-value {e_value:.3g}")
