package store

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Errors that callers distinguish with errors.Is.
var (
	ErrNotFound = errors.New("not found")         // the store has no such run or blob
	ErrExists   = errors.New("the run exists")    // a head was written for a run that has a journal
	ErrTaken    = errors.New("the name is taken") // see TakenError
	ErrClosed   = errors.New("the store is closed")
)

// TakenError is the error of Post for a name that another message has.
type TakenError struct {
	First Message // the message that was posted with the name
}

// Error returns the message.
func (e *TakenError) Error() string {
	return fmt.Sprintf("message %s was posted already at %s", e.First.Name, e.First.Posted.Format(time.RFC3339))
}

// Is makes errors.Is report that e is ErrTaken.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// FencedError is the error of Append for a caller that does not hold the lease: it was released, or
// another process has acquired it since.
type FencedError struct {
	Run   string
	Token uint32 // of the caller
	Now   uint32 // of the current lease; 0 if it is not known
}

// Error returns the message.
func (e *FencedError) Error() string {
	return fmt.Sprintf("run %s is no longer held with token %d: the current token is %d", e.Run, e.Token, e.Now)
}

// HeldError is the error of Acquire for a run whose lease another holder has.
type HeldError struct {
	Lease Lease
}

// Error returns the message.
func (e *HeldError) Error() string {
	l := e.Lease
	return fmt.Sprintf("run %s is held by %s@%s pid %d since %s, lease until %s",
		l.Run, l.User, l.Host, l.PID, l.Since.Format(time.RFC3339), l.Expires.Format(time.RFC3339))
}

// MissingError is the error of opening a store that does not exist, for a caller that does not want to create it.
type MissingError struct {
	What string // what is missing
}

// Error returns the message.
func (e *MissingError) Error() string {
	return e.What + "; the first run that is stored there creates it"
}

// WithdrawnError is the error of Enqueue for a holder that was asked to leave the queue.
type WithdrawnError struct {
	Run string
	By  string // who asked; "" if that is not known
}

// Error returns the message.
func (e *WithdrawnError) Error() string {
	return fmt.Sprintf("the wait for the lease of run %s was ended by %s", e.Run, cmp.Or(e.By, "somebody"))
}

// DamageError reports damaged data: a journal with a missing or changed record, a missing or changed
// blob, or a changed entry of the cache.
type DamageError struct {
	Run    string // "" for a blob or an entry of the cache
	File   string // the file of the journal; "" if the store has no files
	Offset int64  // of the first bad byte in File
	Record uint64 // the number of the first bad record
	Of     uint64 // the largest number of a record that can be read
	Blob   string // the name of the blob; "" for others
	Cached string // the key of the entry of the cache; "" for others
	Err    error  // what was found
}

// Error returns the message.
func (e *DamageError) Error() string {
	if e.Blob != "" {
		return fmt.Sprintf("blob %s is damaged: %v", e.Blob, e.Err)
	}
	if e.Cached != "" {
		return fmt.Sprintf("entry %s of the cache is damaged: %v", e.Cached, e.Err)
	}
	at := ""
	if e.File != "" {
		at = fmt.Sprintf(" at byte %d", e.Offset)
	}
	return fmt.Sprintf("journal damaged%s (record %d of %d) of run %s: %v", at, e.Record, e.Of, e.Run, e.Err)
}

// Unwrap returns what was found: ErrNotFound for a missing blob.
func (e *DamageError) Unwrap() error { return e.Err }

// FormatError reports a journal that was written in a later format than this version reads.
type FormatError struct {
	Format int // of the journal
}

// Error returns the message.
func (e *FormatError) Error() string {
	return fmt.Sprintf("journal format %d, this wavefold reads up to %d", e.Format, Format)
}
