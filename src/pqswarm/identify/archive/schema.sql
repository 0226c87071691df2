CREATE TABLE stations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, site TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL,
    seal TEXT NOT NULL DEFAULT '');
CREATE TABLE files (
    path BLOB PRIMARY KEY, name TEXT NOT NULL, stamp TEXT NOT NULL, content TEXT NOT NULL, owner TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, seal TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE INDEX files_by_content ON files (content);
CREATE TABLE contents (
    digest TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, analyzer TEXT NOT NULL, at TEXT NOT NULL,
    serial INTEGER NOT NULL, seal TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE INDEX contents_by_state ON contents (state);
CREATE TABLE claims (
    digest TEXT PRIMARY KEY, worker TEXT NOT NULL, until REAL NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE recordings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, source TEXT NOT NULL,
    name TEXT NOT NULL, owner TEXT NOT NULL, station INTEGER NOT NULL, start INTEGER, seconds REAL,
    n_channels INTEGER, n_events INTEGER NOT NULL, reason TEXT NOT NULL, revision INTEGER NOT NULL,
    seal TEXT NOT NULL DEFAULT '', UNIQUE (content, position));
CREATE TABLE recording_records (recording INTEGER PRIMARY KEY, record TEXT NOT NULL, picture TEXT NOT NULL DEFAULT '',
    seal TEXT NOT NULL DEFAULT '');
CREATE INDEX recordings_by_revision ON recordings (revision);
CREATE INDEX recordings_by_start ON recordings (start);
CREATE INDEX recordings_by_station ON recordings (station);
CREATE TABLE incidents (
    recording INTEGER NOT NULL, position INTEGER NOT NULL, cause TEXT NOT NULL, probability REAL NOT NULL,
    title TEXT NOT NULL, record TEXT NOT NULL, seal TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (recording, position)) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, refers TEXT NOT NULL,
    recording INTEGER NOT NULL, position INTEGER NOT NULL, incident INTEGER, start INTEGER, type TEXT NOT NULL,
    category TEXT NOT NULL, label TEXT NOT NULL, cause TEXT NOT NULL, phases TEXT NOT NULL, system TEXT NOT NULL,
    magnitude REAL, unit TEXT NOT NULL, duration REAL, tier INTEGER NOT NULL, severity REAL NOT NULL,
    hidden INTEGER NOT NULL, seconds REAL, percent REAL, cut TEXT NOT NULL DEFAULT '', seal TEXT NOT NULL DEFAULT '');
CREATE INDEX events_by_recording ON events (recording, position);
CREATE INDEX events_by_start ON events (start);
CREATE TABLE event_records (number INTEGER PRIMARY KEY, record TEXT NOT NULL, seal TEXT NOT NULL DEFAULT '');
CREATE TABLE corrections (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, what TEXT NOT NULL,
    label TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL, record TEXT NOT NULL,
    found TEXT NOT NULL DEFAULT '', seal TEXT NOT NULL DEFAULT '');
CREATE INDEX corrections_by_content ON corrections (content);
CREATE TABLE notes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    author TEXT NOT NULL, at TEXT NOT NULL, removed TEXT NOT NULL, start REAL, stop REAL,
    seal TEXT NOT NULL DEFAULT '');
CREATE INDEX notes_by_content ON notes (content);
CREATE TABLE receivers (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL, length INTEGER, seal TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE refused (
    name TEXT NOT NULL, number INTEGER NOT NULL, times INTEGER NOT NULL, reason TEXT NOT NULL,
    seal TEXT NOT NULL DEFAULT '', PRIMARY KEY (name, number)) WITHOUT ROWID;
CREATE TABLE revisions (last INTEGER NOT NULL);
CREATE VIEW rows AS
    SELECT stations.name AS station, date(events.start / 1000000, 'unixepoch') AS date,
    strftime('%H:%M:%f', events.start / 1000000.0, 'unixepoch') AS time, type, category, phases, system, magnitude, unit,
    duration, cut, label AS class, cause, CASE tier WHEN 2 THEN severity END AS severity, recordings.name AS file, key
    FROM events JOIN recordings ON recordings.id = recording JOIN stations ON stations.id = station
    WHERE hidden = 0 AND owner = '';
INSERT INTO revisions VALUES (0);
