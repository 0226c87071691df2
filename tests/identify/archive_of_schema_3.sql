BEGIN TRANSACTION;
CREATE TABLE claims (
    digest TEXT PRIMARY KEY, worker TEXT NOT NULL, until REAL NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE contents (
    digest TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, analyzer TEXT NOT NULL, at TEXT NOT NULL,
    serial INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "contents" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','done','','','2026-06-30T12:00:00+00:00',2);
CREATE TABLE corrections (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, what TEXT NOT NULL,
    label TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL, record TEXT NOT NULL, found TEXT NOT NULL DEFAULT '');
INSERT INTO "corrections" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'class','sag_with_harmonics','Eve','2026-06-30T12:00:00+00:00','seen','{"type": "sag", "category": "sag", "sentence": "sag as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.62, "unit": "pu", "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "volts": 7159.14, "reference_volts": 11547.0, "sag_type": "", "cut_start": false, "cut_end": true, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "type": "sag", "magnitude": 0.62, "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "label": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_label": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}','sag');
INSERT INTO "corrections" VALUES(2,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'cause','capacitor switching','Ann','2026-06-30T12:00:00+00:00','','{"type": "sag", "category": "sag", "sentence": "sag as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.62, "unit": "pu", "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "volts": 7159.14, "reference_volts": 11547.0, "sag_type": "", "cut_start": false, "cut_end": true, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "type": "sag", "magnitude": 0.62, "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "label": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_label": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}','');
INSERT INTO "corrections" VALUES(3,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'class','not an event','Ann','2026-06-30T12:00:00+00:00','','{"type": "swell", "category": "swell", "sentence": "swell as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 1.2, "unit": "pu", "start": 0.7, "end": 0.7799999999999999, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "volts": 13856.4, "reference_volts": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "type": "swell", "magnitude": 1.2, "start": 0.7, "end": 0.7799999999999999, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "label": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_label": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}','sag');
CREATE TABLE event_records (number INTEGER PRIMARY KEY, record TEXT NOT NULL);
INSERT INTO "event_records" VALUES(1,'{"type": "sag", "category": "sag", "sentence": "sag as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.62, "unit": "pu", "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "volts": 7159.14, "reference_volts": 11547.0, "sag_type": "", "cut_start": false, "cut_end": true, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "type": "sag", "magnitude": 0.62, "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "label": "sag_with_harmonics", "probability": null, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_label": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true, "model_label": "", "by_hand": "sag_with_harmonics", "correction": "corrected by Eve on 2026-06-30 (seen); found: sag"}');
INSERT INTO "event_records" VALUES(2,'{"type": "swell", "category": "swell", "sentence": "swell as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 1.2, "unit": "pu", "start": 0.7, "end": 0.7799999999999999, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "volts": 13856.4, "reference_volts": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "type": "swell", "magnitude": 1.2, "start": 0.7, "end": 0.7799999999999999, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "label": "sag", "probability": null, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_label": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true, "model_label": "", "by_hand": "not an event", "correction": "corrected by Ann on 2026-06-30; found: sag"}');
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, refers TEXT NOT NULL,
    recording INTEGER NOT NULL, position INTEGER NOT NULL, incident INTEGER, start INTEGER, type TEXT NOT NULL,
    category TEXT NOT NULL, label TEXT NOT NULL, cause TEXT NOT NULL, phases TEXT NOT NULL, system TEXT NOT NULL,
    magnitude REAL, unit TEXT NOT NULL, duration REAL, tier INTEGER NOT NULL, severity REAL NOT NULL,
    hidden INTEGER NOT NULL, seconds REAL, percent REAL, cut TEXT NOT NULL DEFAULT '');
INSERT INTO "events" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaa-1','',1,0,0,1772600767489000,'sag','sag','sag_with_harmonics','capacitor switching','A','',0.62,'pu',0.08,2,0.76,0,0.08,62.0,'end');
INSERT INTO "events" VALUES(2,'aaaaaaaaaaaaaaaaaaaaaaaa-2','',1,1,1,1772600767789000,'swell','swell','sag','','A','',1.2,'pu',0.08,2,1.0,1,0.08,120.0,'');
CREATE TABLE files (
    path BLOB PRIMARY KEY, name TEXT NOT NULL, stamp TEXT NOT NULL, content TEXT NOT NULL, owner TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "files" VALUES(X'2F646174612F612E636667','/data/a.cfg','1:1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','','','');
CREATE TABLE incidents (
    recording INTEGER NOT NULL, position INTEGER NOT NULL, cause TEXT NOT NULL, probability REAL NOT NULL,
    title TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (recording, position)) WITHOUT ROWID;
INSERT INTO "incidents" VALUES(1,0,'fault',0.96,'capacitor switching','{"cause": "fault", "probability": 0.96, "evidence": ["A dips by 38 %"], "stages": [{"start": 0.4, "end": 0.48, "name": "low on A", "levels": {}}], "events": [0], "start": 0.4, "end": 0.48, "course": "", "phases": "A", "feeder": "", "rule": "", "timeline": [], "clearing_s": null, "worst_cycle_end": null, "by_hand": "capacitor switching", "correction": "corrected by Ann on 2026-06-30; found: fault A, 96 %"}');
INSERT INTO "incidents" VALUES(1,1,'unknown',0.0,'cause unknown','{"cause": "unknown", "probability": 0.0, "evidence": [], "stages": [], "events": [1], "start": 0.7, "end": 0.78, "course": "", "phases": "", "feeder": "", "rule": "", "timeline": [], "clearing_s": null, "worst_cycle_end": null, "by_hand": "", "correction": ""}');
CREATE TABLE notes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    author TEXT NOT NULL, at TEXT NOT NULL, removed TEXT NOT NULL, start REAL, stop REAL);
INSERT INTO "notes" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'A note.','Eve','2026-06-30T12:00:00+00:00','',NULL,NULL);
CREATE TABLE receivers (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL, length INTEGER) WITHOUT ROWID;
CREATE TABLE recording_records (recording INTEGER PRIMARY KEY, record TEXT NOT NULL, picture TEXT NOT NULL DEFAULT '');
INSERT INTO "recording_records" VALUES(1,'{"source": "fault.cfg", "station": "North", "start": "2026-03-04T05:06:07.089000", "sampling_rate": 6400, "frequency": 50.01, "nominal_frequency": 50.0, "n_samples": 6400, "thresholds": {"sag": 0.9, "swell": 1.1, "interruption": 0.1, "hysteresis": 0.02, "transient": 0.08, "transient_noise_factor": 6.0, "voltage_change": 0.02, "thd": 0.05, "dc": 0.01, "notch": 0.05, "flicker": 0.005, "unbalance": 0.02, "pst": 1.0}, "references": [{"number": 0, "channel": "UA", "phase": "A", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 1, "channel": "UB", "phase": "B", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 2, "channel": "UC", "phase": "C", "system": "", "volts": 11547.0, "source": "nominal"}], "channels": [], "no_event_reason": "", "caveats": ["Assumed."], "notes": []}','');
CREATE TABLE recordings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, source TEXT NOT NULL,
    name TEXT NOT NULL, owner TEXT NOT NULL, station INTEGER NOT NULL, start INTEGER, seconds REAL,
    n_channels INTEGER, n_events INTEGER NOT NULL, reason TEXT NOT NULL, revision INTEGER NOT NULL,
    UNIQUE (content, position));
INSERT INTO "recordings" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'fault.cfg','/data/a.cfg','',1,1772600767089000,1.0,NULL,2,'',5);
CREATE TABLE refused (
    name TEXT NOT NULL, number INTEGER NOT NULL, times INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (name, number)) WITHOUT ROWID;
CREATE TABLE revisions (last INTEGER NOT NULL);
INSERT INTO "revisions" VALUES(5);
CREATE TABLE stations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, site TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO "stations" VALUES(1,'North','','','2026-06-30T12:00:00+00:00');
CREATE INDEX files_by_content ON files (content);
CREATE INDEX contents_by_state ON contents (state);
CREATE INDEX recordings_by_revision ON recordings (revision);
CREATE INDEX recordings_by_start ON recordings (start);
CREATE INDEX recordings_by_station ON recordings (station);
CREATE INDEX events_by_recording ON events (recording, position);
CREATE INDEX events_by_start ON events (start);
CREATE INDEX corrections_by_content ON corrections (content);
CREATE INDEX notes_by_content ON notes (content);
CREATE VIEW rows AS
    SELECT stations.name AS station, date(events.start / 1000000, 'unixepoch') AS date,
    strftime('%H:%M:%f', events.start / 1000000.0, 'unixepoch') AS time, type, category, phases, system, magnitude, unit,
    duration, cut, label AS class, cause, CASE tier WHEN 2 THEN severity END AS severity, recordings.name AS file, key
    FROM events JOIN recordings ON recordings.id = recording JOIN stations ON stations.id = station
    WHERE hidden = 0 AND owner = '';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('recordings',1);
INSERT INTO "sqlite_sequence" VALUES('events',2);
INSERT INTO "sqlite_sequence" VALUES('corrections',3);
INSERT INTO "sqlite_sequence" VALUES('notes',1);
COMMIT;
PRAGMA application_id = 1886483297;
PRAGMA user_version = 3;
