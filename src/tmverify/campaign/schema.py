"""The tables of a store.

``task`` is what an answer depends on, ``result`` the answer, ``asked`` which plan asks which task and what it
calls the models and inputs: one task may be asked by several. A result is one row, written in one
transaction. ``answers`` is a view of all this for people.
"""

APPLICATION = 0x746D7673  # "tmvs", in the header of the file
VERSION = 1

TABLES = """
CREATE TABLE model (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, n_features INTEGER NOT NULL, n_clauses INTEGER NOT NULL,
    classes TEXT NOT NULL, feature_names TEXT
);
CREATE TABLE input (digest TEXT PRIMARY KEY, n_features INTEGER NOT NULL, bits BLOB NOT NULL);
CREATE TABLE task (
    id TEXT PRIMARY KEY, question TEXT NOT NULL, models TEXT NOT NULL, n_features INTEGER NOT NULL,
    "index" INTEGER, input TEXT REFERENCES input (digest), epsilon INTEGER, scope TEXT NOT NULL, mask BLOB,
    direction TEXT, engine TEXT NOT NULL, certified INTEGER NOT NULL
);
CREATE TABLE asked (
    plan TEXT NOT NULL, position INTEGER NOT NULL, task TEXT NOT NULL REFERENCES task (id),
    names TEXT NOT NULL, data TEXT NOT NULL, label TEXT, image TEXT, own INTEGER NOT NULL,
    PRIMARY KEY (plan, position)
);
CREATE TABLE result (
    task TEXT PRIMARY KEY REFERENCES task (id),
    status TEXT NOT NULL CHECK (status IN ('holds', 'violated', 'exact', 'unknown')),
    lower INTEGER, upper INTEGER, witness BLOB, decisions TEXT, seconds REAL NOT NULL, engine TEXT NOT NULL,
    stop_reason TEXT, detail TEXT NOT NULL, trusts TEXT NOT NULL, trusts_alone TEXT NOT NULL,
    certificate TEXT, attempts INTEGER NOT NULL,
    versions TEXT NOT NULL, timeout REAL, memory INTEGER, finished TEXT NOT NULL
);
CREATE VIEW answers AS
    SELECT plan, task.id AS task, question, names AS models, data, "index", label, epsilon, scope, direction,
           hex(mask) AS features, status, lower, upper, seconds, result.engine, stop_reason, detail,
           certificate, models AS model_hashes, versions, finished
    FROM asked JOIN task ON task.id = asked.task JOIN result ON result.task = task.id ORDER BY asked.rowid;
"""
