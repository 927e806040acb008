-- +goose Up

-- Those that wait for the lease of a run, in the order of place.
CREATE TABLE wavefold_queue (
	run      text COLLATE "C" NOT NULL,
	holder   text NOT NULL,
	place    bigint GENERATED ALWAYS AS IDENTITY,
	host     text NOT NULL,
	pid      bigint NOT NULL,
	username text NOT NULL,
	process  text NOT NULL,
	since    timestamptz NOT NULL,
	expires  timestamptz NOT NULL,
	PRIMARY KEY (run, holder)
);

-- Files of runs: what programs printed, and log records. Those of a run with one name, in the order of n, are a file.
CREATE TABLE wavefold_attachments (
	run  text COLLATE "C" NOT NULL REFERENCES wavefold_runs ON DELETE CASCADE,
	name text COLLATE "C" NOT NULL,
	n    bigint NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (run, name, n)
);

-- The records that salvaging a damaged journal has removed from it.
CREATE TABLE wavefold_damaged_records (
	run     text COLLATE "C" NOT NULL REFERENCES wavefold_runs ON DELETE CASCADE,
	removed timestamptz NOT NULL,
	seq     bigint NOT NULL,
	token   bigint NOT NULL,
	type    smallint NOT NULL,
	version smallint NOT NULL,
	data    bytea NOT NULL,
	PRIMARY KEY (run, removed, seq)
);
