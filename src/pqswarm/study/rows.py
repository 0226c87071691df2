"""Rows of the store's tables: how runs are written, and checked when they are read."""

import hashlib
import json
from typing import Any

import numpy as np

from pqswarm.search import SearchResult
from pqswarm.study import records
from pqswarm.study.records import RunKey, RunRecord, RunStatus


def key_row(key: RunKey) -> tuple[Any, ...]:
    """Return the key of a run as the first columns of its row."""
    return key.dataset, key.classifier, key.algorithm, key.run


def run_row(record: RunRecord) -> tuple[Any, ...]:
    """Return a finished run as a row of its table, without its digest."""
    result = record.result
    return (
        *key_row(record.key),
        str(record.seed),
        result.algorithm,
        result.error + 0.0,  # SQLite does not keep the sign of zero
        records.mask_text(result.mask),
        result.n_evaluations,
        json.dumps(result.improvements.tolist()),
        records.front_text(result),
        record.seconds,
    )


def row_digest(row: tuple[Any, ...]) -> str:
    """Return a digest of a row of the database; an empty name of the data set does not count, as in older files."""
    row = row if row[0] else row[1:]
    return hashlib.sha256(json.dumps(row).encode()).hexdigest()


def checked_row(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check the digest at the end of a row and return the row without it."""
    *content, digest = row
    if row_digest(tuple(content)) != digest:
        raise ValueError(f"{', '.join(map(str, content[:4]))} does not match its digest")
    return tuple(content)


def row_status(row: tuple[Any, ...]) -> RunStatus:
    """Return the status of the run in a row."""
    dataset, classifier, algorithm, run, n_evaluations, error, size = row
    return RunStatus(RunKey(classifier, algorithm, int(run), dataset), int(n_evaluations), float(error), size)


def row_record(row: tuple[Any, ...]) -> RunRecord:
    """Return the run in a row of the table."""
    dataset, classifier, algorithm, run, seed, search, error, mask, n_evaluations, improvements, front, seconds = row
    steps = np.array(json.loads(improvements), dtype=np.float64).reshape(-1, 3)
    front = records.text_front(front)
    result = SearchResult(search, records.text_mask(mask), error, n_evaluations, steps, **front)
    return RunRecord(RunKey(classifier, algorithm, run, dataset), int(seed), result, seconds)
