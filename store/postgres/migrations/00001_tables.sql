-- +goose Up

-- One row for each run: who has its lease, how long its journal is, and what a list shows of it.
CREATE TABLE wavefold_runs (
	run      text COLLATE "C" PRIMARY KEY,
	token    bigint NOT NULL,
	holder   text NOT NULL,
	host     text NOT NULL,
	pid      bigint NOT NULL,
	username text NOT NULL,
	process  text NOT NULL,
	since    timestamptz NOT NULL,
	expires  timestamptz,
	records  bigint NOT NULL DEFAULT 0,
	bytes    bigint NOT NULL DEFAULT 0,
	updated  timestamptz,
	workflow text,
	status   text,
	started  timestamptz,
	summary  json
) WITH (fillfactor = 70); -- each append updates the row of its run, in the same page if there is room

CREATE INDEX wavefold_runs_started ON wavefold_runs (started DESC, run DESC) WHERE records > 0;
CREATE INDEX wavefold_runs_workflow ON wavefold_runs (workflow, started DESC, run DESC) WHERE records > 0;

CREATE INDEX wavefold_runs_expires ON wavefold_runs (expires) WHERE expires IS NOT NULL;

-- The journals. There is no foreign key: it would be checked for each record, and the statement that
-- appends locks the row of the run anyway.
CREATE TABLE wavefold_records (
	run     text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	token   bigint NOT NULL,
	type    smallint NOT NULL,
	version smallint NOT NULL,
	data    bytea NOT NULL,
	PRIMARY KEY (run, seq)
);

CREATE TABLE wavefold_messages (
	run    text COLLATE "C" NOT NULL REFERENCES wavefold_runs ON DELETE CASCADE,
	name   text COLLATE "C" NOT NULL,
	posted timestamptz NOT NULL,
	data   bytea NOT NULL,
	PRIMARY KEY (run, name)
);

CREATE TABLE wavefold_blobs (
	sum    text COLLATE "C" PRIMARY KEY,
	stored timestamptz NOT NULL,
	data   bytea NOT NULL
);

-- The blobs that the records of a run name.
CREATE TABLE wavefold_blob_names (
	run text COLLATE "C" NOT NULL,
	sum text COLLATE "C" NOT NULL,
	PRIMARY KEY (run, sum)
);

CREATE INDEX wavefold_blob_names_sum ON wavefold_blob_names (sum);
