"""Exact statistics of outcomes against odds: distances, tests, intervals, sequential verdicts, plans.

Every function takes ``Counts`` and a ``Reference`` (plain numbers will do) and touches no file, clock or global random
state. Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldodds.statistics.agreement import cohen_kappa as cohen_kappa
    from worldodds.statistics.agreement import krippendorff_alpha as krippendorff_alpha
    from worldodds.statistics.agreement import share_interval as share_interval
    from worldodds.statistics.allocation import allocate as allocate
    from worldodds.statistics.allocation import saving as saving
    from worldodds.statistics.bulk import BulkMeasures as BulkMeasures
    from worldodds.statistics.bulk import measure_many as measure_many
    from worldodds.statistics.bulk import p_values_of_many as p_values_of_many
    from worldodds.statistics.comparison import Difference as Difference
    from worldodds.statistics.comparison import critical_value as critical_value
    from worldodds.statistics.comparison import differences as differences
    from worldodds.statistics.comparison import rank_ranges as rank_ranges
    from worldodds.statistics.comparison import ties as ties
    from worldodds.statistics.coverage import coverage_percent as coverage_percent
    from worldodds.statistics.coverage import expected_coverage as expected_coverage
    from worldodds.statistics.coverage import passes_gate as passes_gate
    from worldodds.statistics.coverage import scene_pass_rate as scene_pass_rate
    from worldodds.statistics.coverage import sure_coverage as sure_coverage
    from worldodds.statistics.coverage import track_mean as track_mean
    from worldodds.statistics.coverage import tvd_percent as tvd_percent
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
    from worldodds.statistics.equivalence import Equivalence as Equivalence
    from worldodds.statistics.equivalence import SequentialVerdict as SequentialVerdict
    from worldodds.statistics.equivalence import certify as certify
    from worldodds.statistics.equivalence import log_e_calibrated as log_e_calibrated
    from worldodds.statistics.equivalence import three_way as three_way
    from worldodds.statistics.exact import GoodnessOfFit as GoodnessOfFit
    from worldodds.statistics.exact import multinomial_test as multinomial_test
    from worldodds.statistics.family import Family as Family
    from worldodds.statistics.family import replay_family as replay_family
    from worldodds.statistics.interval import Estimate as Estimate
    from worldodds.statistics.interval import Interval as Interval
    from worldodds.statistics.interval import jackknife as jackknife
    from worldodds.statistics.interval import percentile_bootstrap as percentile_bootstrap
    from worldodds.statistics.interval import percentile_bootstraps as percentile_bootstraps
    from worldodds.statistics.inversion import Inversion as Inversion
    from worldodds.statistics.inversion import Misreading as Misreading
    from worldodds.statistics.inversion import Population as Population
    from worldodds.statistics.inversion import invert as invert
    from worldodds.statistics.judge import Corrected as Corrected
    from worldodds.statistics.judge import ErrorRate as ErrorRate
    from worldodds.statistics.judge import JudgeError as JudgeError
    from worldodds.statistics.judge import correct as correct
    from worldodds.statistics.monitor import Monitor as Monitor
    from worldodds.statistics.monitor import Replay as Replay
    from worldodds.statistics.monitor import StoppingRule as StoppingRule
    from worldodds.statistics.monitor import replay as replay
    from worldodds.statistics.multiplicity import benjamini_hochberg as benjamini_hochberg
    from worldodds.statistics.multiplicity import bonferroni as bonferroni
    from worldodds.statistics.multiplicity import e_bh as e_bh
    from worldodds.statistics.multiplicity import running_bh as running_bh
    from worldodds.statistics.planner import ScenePlan as ScenePlan
    from worldodds.statistics.planner import certifiable_delta as certifiable_delta
    from worldodds.statistics.planner import expected_rollouts as expected_rollouts
    from worldodds.statistics.planner import plan_scene as plan_scene
    from worldodds.statistics.planner import rollouts_by_formula as rollouts_by_formula
    from worldodds.statistics.planner import rollouts_needed as rollouts_needed
    from worldodds.statistics.planner import rollouts_to_certify as rollouts_to_certify
    from worldodds.statistics.power import default_spike as default_spike
    from worldodds.statistics.power import detectable_tv as detectable_tv
    from worldodds.statistics.power import power_of_test as power_of_test
    from worldodds.statistics.power import rollouts_to_detect as rollouts_to_detect
    from worldodds.statistics.power import spiked as spiked
    from worldodds.statistics.robustness import completed as completed
    from worldodds.statistics.robustness import imputed as imputed
    from worldodds.statistics.robustness import mean_score_bounds as mean_score_bounds
    from worldodds.statistics.robustness import mean_tv_bounds as mean_tv_bounds
    from worldodds.statistics.robustness import p_with_any_nulls as p_with_any_nulls
    from worldodds.statistics.robustness import p_with_error_rate as p_with_error_rate
    from worldodds.statistics.robustness import p_with_wrong_labels as p_with_wrong_labels
    from worldodds.statistics.robustness import relabelled as relabelled
    from worldodds.statistics.robustness import survives_any_nulls as survives_any_nulls
    from worldodds.statistics.robustness import survives_error_rate as survives_error_rate
    from worldodds.statistics.robustness import tv_bounds as tv_bounds
    from worldodds.statistics.robustness import wrong_labels_survived as wrong_labels_survived
    from worldodds.statistics.sequential import log_e_path as log_e_path
    from worldodds.statistics.sequential import log_e_value as log_e_value
    from worldodds.statistics.simulated import simulated_test as simulated_test
    from worldodds.statistics.track import MeanLaw as MeanLaw
    from worldodds.statistics.track import mean_coverage_interval as mean_coverage_interval
    from worldodds.statistics.track import mean_tvd_interval as mean_tvd_interval
    from worldodds.statistics.track import mean_tvd_law as mean_tvd_law
    from worldodds.statistics.two_sample import TwoSampleTest as TwoSampleTest
    from worldodds.statistics.two_sample import paired_test as paired_test
    from worldodds.statistics.two_sample import two_sample_test as two_sample_test
    from worldodds.statistics.waves import EarlyRule as EarlyRule
    from worldodds.statistics.waves import next_wave as next_wave

_MODULES: dict[str, tuple[str, ...]] = {
    "agreement": ("cohen_kappa", "krippendorff_alpha", "share_interval"),
    "allocation": ("allocate", "saving"),
    "bulk": ("BulkMeasures", "measure_many", "p_values_of_many"),
    "comparison": ("Difference", "critical_value", "differences", "rank_ranges", "ties"),
    "coverage": (
        "coverage_percent",
        "expected_coverage",
        "passes_gate",
        "scene_pass_rate",
        "sure_coverage",
        "track_mean",
        "tvd_percent",
    ),
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
    "equivalence": ("Equivalence", "SequentialVerdict", "certify", "log_e_calibrated", "three_way"),
    "exact": ("GoodnessOfFit", "multinomial_test"),
    "family": ("Family", "replay_family"),
    "interval": ("Estimate", "Interval", "jackknife", "percentile_bootstrap", "percentile_bootstraps"),
    "inversion": ("Inversion", "Misreading", "Population", "invert"),
    "judge": ("Corrected", "ErrorRate", "JudgeError", "correct"),
    "monitor": ("Monitor", "Replay", "StoppingRule", "replay"),
    "multiplicity": ("benjamini_hochberg", "bonferroni", "e_bh", "running_bh"),
    "planner": (
        "ScenePlan",
        "certifiable_delta",
        "expected_rollouts",
        "plan_scene",
        "rollouts_by_formula",
        "rollouts_needed",
        "rollouts_to_certify",
    ),
    "power": ("default_spike", "detectable_tv", "power_of_test", "rollouts_to_detect", "spiked"),
    "robustness": (
        "completed",
        "imputed",
        "mean_score_bounds",
        "mean_tv_bounds",
        "p_with_any_nulls",
        "p_with_error_rate",
        "p_with_wrong_labels",
        "relabelled",
        "survives_any_nulls",
        "survives_error_rate",
        "tv_bounds",
        "wrong_labels_survived",
    ),
    "sequential": ("log_e_path", "log_e_value"),
    "simulated": ("simulated_test",),
    "track": ("MeanLaw", "mean_coverage_interval", "mean_tvd_interval", "mean_tvd_law"),
    "waves": ("EarlyRule", "next_wave"),
    "two_sample": ("TwoSampleTest", "paired_test", "two_sample_test"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
