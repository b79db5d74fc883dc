"""Commands for suites of tracks: scores as PAWBench publishes them, families, and both papers' rules side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from worldodds.errors import InputError


def refuse(**options: object) -> None:
    """Refuse options of `worldodds score` that a suite of tracks has no use for."""
    if given := [f"--{name}" for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} is not for suites of tracks; --json gives all their numbers")


def refuse_reference() -> NoReturn:
    """Refuse odds given by hand for a suite whose scenes all have theirs."""
    raise InputError("--reference is for suites of tracks, such as pawbench; name one with --suite")


def score_tracks(sources: Sequence[Path], given: Mapping[str, Any], *, partial: bool, json: bool, verbose: bool) -> int:
    """Score sources on their tracks and print them; the code of `worldodds score` for such suites."""
    from worldodds.track_scores import score_track_sources

    scores = score_track_sources(*sources, **given)
    if json:
        from worldodds.interop.tracks_json import tracks_json

        print(tracks_json(scores, partial=partial))
    else:
        from worldodds.cli.screen import console
        from worldodds.report.tracks_text import print_tracks

        print_tracks(scores, console(), partial=partial, verbose=verbose)
    return 3 if any(card.open for card in scores.cards) else 0
