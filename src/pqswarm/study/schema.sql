CREATE TABLE findings (
    dataset TEXT NOT NULL, kind TEXT NOT NULL, classifier TEXT NOT NULL, level TEXT NOT NULL,
    value TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (dataset, kind, classifier, level)
) WITHOUT ROWID;
CREATE TABLE runs (
    dataset TEXT NOT NULL, classifier TEXT NOT NULL, algorithm TEXT NOT NULL, run INTEGER NOT NULL,
    seed TEXT NOT NULL, search TEXT NOT NULL, error REAL NOT NULL, mask TEXT NOT NULL, n_evaluations INTEGER NOT NULL,
    improvements TEXT NOT NULL, front TEXT, seconds REAL NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (dataset, classifier, algorithm, run)
) WITHOUT ROWID;
CREATE TABLE checkpoints (
    dataset TEXT NOT NULL, classifier TEXT NOT NULL, algorithm TEXT NOT NULL, run INTEGER NOT NULL,
    n_evaluations INTEGER NOT NULL, best_error REAL NOT NULL, seconds REAL NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (dataset, classifier, algorithm, run)
);
