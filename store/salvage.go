package store

import "context"

// Salvager is implemented by stores that can make a damaged journal readable.
type Salvager interface {
	// Salvage truncates a damaged journal after the last good record before the damage. The work that the run
	// did later is lost and is done again. The store keeps a copy of the data that it changes. The caller
	// holds the lease with that token and has appended nothing; otherwise the error is a *FencedError.
	// Salvage returns the damage, or nil if there is none.
	Salvage(ctx context.Context, run string, token uint32) (*DamageError, error)
}
