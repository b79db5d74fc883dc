"""Files of outcomes in and out: tables (CSV, JSONL, Parquet) and CaliBench's folders of bins."""

from worldodds.interop.source import read_source

__all__ = ["read_source"]
