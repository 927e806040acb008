-- +goose Up

-- Results of nodes that later runs may use. They do not belong to runs.
CREATE TABLE wavefold_cache (
	key     text COLLATE "C" PRIMARY KEY,
	expires timestamptz,
	data    bytea NOT NULL
);

CREATE INDEX wavefold_cache_expires ON wavefold_cache (expires) WHERE expires IS NOT NULL;
