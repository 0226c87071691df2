"""Dates and times of day, row by row, as seconds."""

import re
from datetime import datetime, timedelta

import numpy as np

from pqswarm.recordings.text import date_from_text

_SECONDS = re.compile(r"[0-5]?\d(?:[.,]\d{1,12})?")
_MICROSECOND = timedelta(microseconds=1)
_HALF_A_DAY = timedelta(hours=12)


class Clock:
    """Dates and times of day as seconds from the first one.

    `date` is that of the first row, if it is in a separate column; without dates, midnight is found from the times of
    day. `minute` is the text of the last time up to its minute, `begin` that minute [µs]: of a time that starts with
    the same text, only the seconds are parsed.
    """

    def __init__(self, date: str = "") -> None:
        self.date = date
        self.zero: datetime | None = None
        self.last: datetime | None = None
        self.days = 0
        self.dated = True
        self.minute = ""
        self.begin = 0

    def seconds(self, text: str) -> float:
        """Seconds from the first time to that in a field; NaN if there is none."""
        minute, _, rest = text.rpartition(":")
        if minute and minute == self.minute and _SECONDS.fullmatch(rest):
            whole, _, part = rest.replace(",", ".").partition(".")
            return (self.begin + int(whole) * 1_000_000 + int(part.ljust(6, "0")[:6])) / 1_000_000
        found = date_from_text(text)
        if found is None:
            found = date_from_text(self.date or "2000-01-01", text) if ":" in text else None
            if found is None:
                return np.nan
            self.dated = bool(self.date)
            if self.last is not None and self.last - found > _HALF_A_DAY:
                self.days += 1
            self.last = found
            found += timedelta(days=self.days)
        if self.zero is None:
            self.zero = found
        if minute.count(":") == 1 and _SECONDS.fullmatch(rest):
            begin = found.replace(second=0, microsecond=0) - self.zero
            self.minute = minute
            self.begin = begin // _MICROSECOND
        return (found - self.zero).total_seconds()

    @property
    def first(self) -> datetime | None:
        """The first time, if its date is known."""
        return self.zero if self.dated else None
