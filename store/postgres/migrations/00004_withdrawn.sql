-- +goose Up

-- Who asked a holder in a queue to leave it.
ALTER TABLE wavefold_queue ADD COLUMN withdrawn text;
