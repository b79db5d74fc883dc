"""What inspect_ai finds by its entry point: our readers as the scorer ``worldodds/reader``.

``inspect score LOG --scorer worldodds/reader -S reader=tracker`` reads the clips that the samples of a log name.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from worldodds.extras import need
from worldodds.interop.inspect_ai import scoring
from worldodds.registry import make_reader
from worldodds.suites import find_suite


def register() -> Any:
    """Register the scorer, and return it as inspect_ai wants to call it.

    Raises:
        MissingDependencyError: inspect_ai is not installed.
    """
    kit = need("inspect_ai.scorer", "inspect")

    @kit.scorer(metrics=[kit.accuracy(), kit.stderr()], name="reader")
    def worldodds_reader(
        reader: str = "tracker", suite: str = "calibench", settings: Mapping[str, Any] | None = None
    ) -> Any:
        return scoring(make_reader(reader, settings or {}), find_suite(suite))

    return worldodds_reader


if find_spec("inspect_ai") is not None:
    reader = register()
