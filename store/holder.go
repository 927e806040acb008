package store

import (
	"cmp"
	"crypto/rand"
	"os"
	"os/user"
)

// NewHolder returns a Holder for this process with a new random ID.
func NewHolder() Holder {
	h := Holder{ID: rand.Text(), PID: os.Getpid()}
	h.Host, _ = os.Hostname()
	h.Host = cmp.Or(h.Host, "localhost")
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	return h
}
