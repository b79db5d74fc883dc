"""The ledger's tables, as numbered steps: a ledger of any age is brought up to date when it is opened for writing."""

from __future__ import annotations

# Rows are only ever inserted; the newest row of a key is its state, the older ones are its history.
MIGRATIONS: tuple[str, ...] = (
    """
    create table run (id integer primary key, at text not null, name text not null, value text not null);
    create table planned (id integer primary key, at text not null, scene text not null, n integer not null);
    create table rollout (
        id integer primary key, at text not null, key text not null, scene text not null, idx integer not null,
        seed integer not null, status text not null, path text, sha256 text, seconds real, frames integer,
        served_version text, cost_usd real, message text, details text not null
    );
    create table reading (
        id integer primary key, at text not null, key text not null, rollout_key text not null, sha256 text not null,
        reader text not null, settings text not null, vote integer not null, status text not null,
        label text, reason text, raw text
    );
    create index rollout_key on rollout (key, id);
    create index reading_key on reading (key, id);
    create view rollout_now as
        select * from rollout where id in (select max(id) from rollout group by key);
    create view reading_now as
        select * from reading where id in (select max(id) from reading group by key);
    """,
    # Every word exchanged with a provider, and a small grey picture of every clip by which twins are found.
    """
    create table attempt (
        id integer primary key, at text not null, key text not null, state text not null, token text not null,
        job text, error_class text, message text, request_id text, cost_usd real
    );
    create index attempt_key on attempt (key, id);
    create view attempt_now as
        select * from attempt where id in (select max(id) from attempt group by key);
    create table look (sha256 text primary key, picture blob not null) without rowid;
    """,
)
