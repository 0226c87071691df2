"""Text tables (CSV): read and write."""

from pqswarm.recordings.table.reader import TABLE, write_csv

__all__ = ["TABLE", "write_csv"]
