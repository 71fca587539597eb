"""The tables of a store: a result is one row, written in one transaction; ``answers`` is for people."""

APPLICATION = 0x746D7673  # "tmvs", in the header of the file
VERSION = 1

TABLES = """
CREATE TABLE model (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, n_features INTEGER NOT NULL, n_clauses INTEGER NOT NULL,
    classes TEXT NOT NULL, feature_names TEXT
);
CREATE TABLE input (digest TEXT PRIMARY KEY, n_features INTEGER NOT NULL, bits BLOB NOT NULL);
CREATE TABLE task (
    id TEXT PRIMARY KEY, position INTEGER NOT NULL, question TEXT NOT NULL, models TEXT NOT NULL,
    names TEXT NOT NULL, n_features INTEGER NOT NULL, "index" INTEGER, input TEXT REFERENCES input (digest),
    data TEXT NOT NULL, label TEXT, image TEXT, epsilon INTEGER, scope TEXT NOT NULL, mask BLOB,
    direction TEXT, engine TEXT NOT NULL, certified INTEGER NOT NULL
);
CREATE TABLE result (
    task TEXT PRIMARY KEY REFERENCES task (id), status TEXT NOT NULL, lower INTEGER, upper INTEGER,
    witness BLOB, decisions TEXT, seconds REAL NOT NULL, engine TEXT NOT NULL, stop_reason TEXT,
    detail TEXT NOT NULL, trusts TEXT NOT NULL, certificate TEXT, timeout REAL, memory INTEGER,
    attempts INTEGER NOT NULL, versions TEXT NOT NULL, finished TEXT NOT NULL
);
CREATE VIEW answers AS
    SELECT task.id AS task, question, names AS models, data, "index", label, epsilon, scope, direction,
           status, lower, upper, seconds, result.engine, stop_reason, detail, certificate,
           models AS model_hashes, versions, finished
    FROM task JOIN result ON result.task = task.id ORDER BY position;
"""
