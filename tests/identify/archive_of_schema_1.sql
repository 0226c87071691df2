BEGIN TRANSACTION;
CREATE TABLE claims (
    digest TEXT PRIMARY KEY, worker TEXT NOT NULL, until REAL NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE contents (
    digest TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, analyser TEXT NOT NULL, at TEXT NOT NULL,
    serial INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "contents" VALUES('8d732194b21b3e475f6cabd65ee214b9b6e55d14788a5c44feda72fd79b83201','done','','test','2026-11-18T05:46:10+00:00',2);
INSERT INTO "contents" VALUES('e222ca849776ba29bce20d8b91ab99a1e6b761dbf17aa1e9bf299faeec07d110','done','','test','2026-11-18T05:46:10+00:00',1);
CREATE TABLE corrections (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, what TEXT NOT NULL,
    label TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL, record TEXT NOT NULL);
INSERT INTO "corrections" VALUES(1,'8d732194b21b3e475f6cabd65ee214b9b6e55d14788a5c44feda72fd79b83201',0,'class','sag_with_harmonics','Eve','2026-11-18T05:46:10+00:00','sure','{"kind": "sag", "category": "sag", "sentence": "sag as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.62, "unit": "pu", "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "reference": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "kind": "sag", "magnitude": 0.62, "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "class": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_class": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}');
INSERT INTO "corrections" VALUES(2,'e222ca849776ba29bce20d8b91ab99a1e6b761dbf17aa1e9bf299faeec07d110',0,'class','flicker','Eve','2026-11-18T05:46:10+00:00','I saw it','{"kind": "none", "category": "none", "sentence": "no disturbance found", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 1.0, "unit": "pu", "start": 0.0, "end": 1.0, "duration": 1.0, "cycles": 50.0, "nominal_frequency": 50.0, "reference": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "kind": "none", "magnitude": 1.0, "start": 0.0, "end": 1.0, "duration": 1.0, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "class": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_class": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}');
CREATE TABLE event_records (number INTEGER PRIMARY KEY, record TEXT NOT NULL);
INSERT INTO "event_records" VALUES(1,'{"kind": "sag", "category": "sag", "sentence": "sag as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.62, "unit": "pu", "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "cycles": 4.0, "nominal_frequency": 50.0, "reference": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "kind": "sag", "magnitude": 0.62, "start": 0.4, "end": 0.48000000000000004, "duration": 0.08, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "class": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_class": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}');
INSERT INTO "event_records" VALUES(2,'{"kind": "transient", "category": "transient", "sentence": "transient as the rules say it", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 0.3, "unit": "pu", "start": 0.6, "end": 0.61, "duration": 0.01, "cycles": 0.5, "nominal_frequency": 50.0, "reference": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {"decay": 0.002, "peak_voltage": 1.2}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "kind": "transient", "magnitude": 0.3, "start": 0.6, "end": 0.61, "duration": 0.01, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "class": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_class": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}');
INSERT INTO "event_records" VALUES(3,'{"kind": "none", "category": "none", "sentence": "no disturbance found", "system": "", "also": [], "phases": ["A"], "channels": ["UA"], "magnitude": 1.0, "unit": "pu", "start": 0.0, "end": 1.0, "duration": 1.0, "cycles": 50.0, "nominal_frequency": 50.0, "reference": 11547.0, "sag_type": "", "cut_start": false, "cut_end": false, "details": {}, "parts": [{"number": 0, "channel": "UA", "phase": "A", "kind": "none", "magnitude": 1.0, "start": 0.0, "end": 1.0, "duration": 1.0, "category": "", "system": "", "cut_start": false, "cut_end": false, "details": {}}], "class": "sag", "probability": 0.9, "probabilities": {"sag": 0.9, "swell": 0.09999999999999998}, "rule_class": "sag", "agreement": "agree", "window": [0.0, 1.0], "reference_source": "", "known": true}');
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, refers TEXT NOT NULL,
    recording INTEGER NOT NULL, position INTEGER NOT NULL, incident INTEGER, start INTEGER, kind TEXT NOT NULL,
    category TEXT NOT NULL, class TEXT NOT NULL, cause TEXT NOT NULL, phases TEXT NOT NULL, system TEXT NOT NULL,
    magnitude REAL, unit TEXT NOT NULL, duration REAL, tier INTEGER NOT NULL, severity REAL NOT NULL,
    hidden INTEGER NOT NULL);
INSERT INTO "events" VALUES(1,'8d732194b21b3e475f6cabd6-1','',1,0,0,1772600767489000,'sag','sag','sag_with_harmonics','fault','A','',0.62,'pu',0.08,2,0.76,0);
INSERT INTO "events" VALUES(2,'8d732194b21b3e475f6cabd6-2','',1,1,0,1772600767689000,'transient','transient','sag','fault','A','',0.3,'pu',0.01,2,0.3,0);
INSERT INTO "events" VALUES(3,'e222ca849776ba29bce20d8b-1','',2,0,NULL,1772600767089000,'none','none','flicker','','A','',1.0,'pu',1.0,0,0.0,0);
CREATE TABLE files (
    path BLOB PRIMARY KEY, name TEXT NOT NULL, stamp TEXT NOT NULL, content TEXT NOT NULL, owner TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "files" VALUES(X'2F646174612F612E636667','/data/a.cfg','1:1','8d732194b21b3e475f6cabd65ee214b9b6e55d14788a5c44feda72fd79b83201','','','');
INSERT INTO "files" VALUES(X'2F646174612F622E636667','/data/b.cfg','1:1','e222ca849776ba29bce20d8b91ab99a1e6b761dbf17aa1e9bf299faeec07d110','','','');
CREATE TABLE incidents (
    recording INTEGER NOT NULL, position INTEGER NOT NULL, cause TEXT NOT NULL, probability REAL NOT NULL,
    title TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (recording, position)) WITHOUT ROWID;
INSERT INTO "incidents" VALUES(1,0,'fault',0.8,'fault','{"cause": "fault", "probability": 0.8, "evidence": ["because"], "stages": [{"start": 0, "end": 1, "name": "x", "levels": {}}], "start": 0, "end": 1, "course": "", "phases": "", "feeder": "", "event_numbers": [0, 1]}');
CREATE TABLE notes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    author TEXT NOT NULL, at TEXT NOT NULL, removed TEXT NOT NULL, start REAL, stop REAL);
INSERT INTO "notes" VALUES(1,'8d732194b21b3e475f6cabd65ee214b9b6e55d14788a5c44feda72fd79b83201',0,'A note.','Ann','2026-11-18T05:46:10+00:00','',NULL,NULL);
CREATE TABLE receivers (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL, length INTEGER) WITHOUT ROWID;
CREATE TABLE recording_events (recording INTEGER PRIMARY KEY, packed BLOB NOT NULL);
INSERT INTO "recording_events" VALUES(1,X'E82313C72B4C0600010000000000000001000000000000000100000003000000010000000000000052B81E3F0AD7A33D0AD7A33D000078425C8F423F01020A283116C72B4C060002000000000000000100000000000000010000000200000001000000000000009A99993E0AD7233C6F12033B0000F0429A99993E030200');
INSERT INTO "recording_events" VALUES(2,X'');
CREATE TABLE recording_records (recording INTEGER PRIMARY KEY, record TEXT NOT NULL);
INSERT INTO "recording_records" VALUES(1,'{"source": "fault.cfg", "station": "North", "start": "2026-03-04T05:06:07.089000", "sampling_rate": 6400, "frequency": 50.01, "nominal_frequency": 50.0, "n_samples": 6400, "thresholds": {"sag": 0.9, "swell": 1.1, "interruption": 0.1, "hysteresis": 0.02, "transient": 0.08, "transient_noise_factor": 6.0, "voltage_change": 0.02, "thd": 0.05, "dc": 0.01, "notch": 0.05, "flicker": 0.005, "unbalance": 0.02, "pst": 1.0}, "references": [{"number": 0, "channel": "UA", "phase": "A", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 1, "channel": "UB", "phase": "B", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 2, "channel": "UC", "phase": "C", "system": "", "volts": 11547.0, "source": "nominal"}], "channels": [], "caveats": ["Assumed."], "notes": []}');
INSERT INTO "recording_records" VALUES(2,'{"source": "fault.cfg", "station": "North", "start": "2026-03-04T05:06:07.089000", "sampling_rate": 6400, "frequency": 50.01, "nominal_frequency": 50.0, "n_samples": 6400, "thresholds": {"sag": 0.9, "swell": 1.1, "interruption": 0.1, "hysteresis": 0.02, "transient": 0.08, "transient_noise_factor": 6.0, "voltage_change": 0.02, "thd": 0.05, "dc": 0.01, "notch": 0.05, "flicker": 0.005, "unbalance": 0.02, "pst": 1.0}, "references": [{"number": 0, "channel": "UA", "phase": "A", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 1, "channel": "UB", "phase": "B", "system": "", "volts": 11547.0, "source": "nominal"}, {"number": 2, "channel": "UC", "phase": "C", "system": "", "volts": 11547.0, "source": "nominal"}], "channels": [], "caveats": ["Assumed."], "notes": []}');
CREATE TABLE recordings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, position INTEGER NOT NULL, source TEXT NOT NULL,
    name TEXT NOT NULL, owner TEXT NOT NULL, station INTEGER NOT NULL, start INTEGER, seconds REAL,
    n_channels INTEGER, n_events INTEGER NOT NULL, reason TEXT NOT NULL, revision INTEGER NOT NULL,
    UNIQUE (content, position));
INSERT INTO "recordings" VALUES(1,'8d732194b21b3e475f6cabd65ee214b9b6e55d14788a5c44feda72fd79b83201',0,'fault.cfg','/data/a.cfg','',1,1772600767089000,1.0,NULL,2,'',3);
INSERT INTO "recordings" VALUES(2,'e222ca849776ba29bce20d8b91ab99a1e6b761dbf17aa1e9bf299faeec07d110',0,'fault.cfg','/data/b.cfg','',1,1772600767089000,1.0,NULL,0,'',4);
CREATE TABLE refused (
    name TEXT NOT NULL, number INTEGER NOT NULL, times INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (name, number)) WITHOUT ROWID;
CREATE TABLE revisions (last INTEGER NOT NULL);
INSERT INTO "revisions" VALUES(4);
CREATE TABLE stations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, site TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO "stations" VALUES(1,'North','','','');
CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'fault');
INSERT INTO "words" VALUES(2,'sag');
INSERT INTO "words" VALUES(3,'sag_with_harmonics');
INSERT INTO "words" VALUES(4,'flicker');
CREATE INDEX files_by_content ON files (content);
CREATE INDEX contents_by_state ON contents (state);
CREATE INDEX recordings_by_revision ON recordings (revision);
CREATE INDEX recordings_by_start ON recordings (start);
CREATE INDEX recordings_by_station ON recordings (station);
CREATE INDEX events_by_recording ON events (recording, position);
CREATE INDEX events_by_start ON events (start);
CREATE INDEX corrections_by_content ON corrections (content);
CREATE INDEX notes_by_content ON notes (content);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('recordings',2);
INSERT INTO "sqlite_sequence" VALUES('events',3);
INSERT INTO "sqlite_sequence" VALUES('corrections',2);
INSERT INTO "sqlite_sequence" VALUES('notes',1);
COMMIT;
PRAGMA application_id = 1886483297;
PRAGMA user_version = 1;
