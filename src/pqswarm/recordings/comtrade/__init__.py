"""COMTRADE (IEEE C37.111): read and write."""

from pqswarm.recordings.comtrade.reader import COMTRADE
from pqswarm.recordings.comtrade.writer import write_comtrade

__all__ = ["COMTRADE", "write_comtrade"]
