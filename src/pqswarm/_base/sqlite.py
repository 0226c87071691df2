"""SQLite files that may come from elsewhere: what they are made of, and how much they may hold at once."""

import sqlite3
from contextlib import closing
from functools import cache

MAX_SQLITE_BYTES = 100_000_000
"""Bytes of a text or a row: what a foreign file, or a query, may make SQLite hold at once."""


def has_schema(connection: sqlite3.Connection, schema: str) -> bool:
    """Return whether a file has exactly the tables, indexes and views of a schema: others may do or take anything."""
    return _sqlite_objects(connection) == _objects_of_schema(schema)


@cache
def _objects_of_schema(schema: str) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.executescript(schema)
        return _sqlite_objects(plain)


def _sqlite_objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Type, name and definition of all tables, indexes, views and triggers."""
    query = "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name != 'sqlite_stat1'"
    return {(object_type, name, " ".join(str(sql).split())) for object_type, name, sql in connection.execute(query)}
