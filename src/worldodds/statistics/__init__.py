"""Exact statistics of outcomes against odds: distances, tests, intervals, sequential verdicts, plans.

Every function takes ``Counts`` and a ``Reference`` (plain numbers will do) and touches no file, clock or global random
state. Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldodds.statistics.bulk import BulkMeasures as BulkMeasures
    from worldodds.statistics.bulk import measure_many as measure_many
    from worldodds.statistics.bulk import p_values_of_many as p_values_of_many
    from worldodds.statistics.distance import cell_score as cell_score
    from worldodds.statistics.distance import effective_outcomes as effective_outcomes
    from worldodds.statistics.distance import excess as excess
    from worldodds.statistics.distance import mean_score as mean_score
    from worldodds.statistics.distance import modal_share as modal_share
    from worldodds.statistics.distance import null_band as null_band
    from worldodds.statistics.distance import null_floor as null_floor
    from worldodds.statistics.distance import score_of as score_of
    from worldodds.statistics.distance import total_variation as total_variation
    from worldodds.statistics.distance import tv_total as tv_total
    from worldodds.statistics.distance import wasserstein as wasserstein
    from worldodds.statistics.distance import wasserstein_floor as wasserstein_floor
    from worldodds.statistics.exact import GoodnessOfFit as GoodnessOfFit
    from worldodds.statistics.exact import multinomial_test as multinomial_test
    from worldodds.statistics.interval import Estimate as Estimate
    from worldodds.statistics.interval import Interval as Interval
    from worldodds.statistics.interval import jackknife as jackknife
    from worldodds.statistics.interval import percentile_bootstrap as percentile_bootstrap
    from worldodds.statistics.interval import percentile_bootstraps as percentile_bootstraps
    from worldodds.statistics.inversion import Inversion as Inversion
    from worldodds.statistics.inversion import Misreading as Misreading
    from worldodds.statistics.inversion import Population as Population
    from worldodds.statistics.inversion import invert as invert

_MODULES: dict[str, tuple[str, ...]] = {
    "distance": (
        "cell_score",
        "effective_outcomes",
        "excess",
        "mean_score",
        "modal_share",
        "null_band",
        "null_floor",
        "score_of",
        "total_variation",
        "tv_total",
        "wasserstein",
        "wasserstein_floor",
    ),
    "exact": ("GoodnessOfFit", "multinomial_test"),
    "interval": ("Estimate", "Interval", "jackknife", "percentile_bootstrap", "percentile_bootstraps"),
    "inversion": ("Inversion", "Misreading", "Population", "invert"),
    "bulk": ("BulkMeasures", "measure_many", "p_values_of_many"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
