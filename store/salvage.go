package store

import "context"

// Salvager is implemented by stores that can make a damaged journal readable.
type Salvager interface {
	// Salvage cuts a damaged journal after the last good record before the damage, so that what the run did later
	// is lost and runs again. The store keeps a copy of what it changes. The caller holds the lease with that
	// token and has appended nothing; otherwise the error is a *FencedError. Salvage returns the damage, nil if there is none.
	Salvage(ctx context.Context, run string, token uint32) (*DamageError, error)
}
