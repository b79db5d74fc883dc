"""Files of outcomes in and out: tables (CSV, JSONL, Parquet), CaliBench's and PAWBench's own; and JSON documents."""
