package postgrestest

import (
	"slices"
	"testing"
)

func TestNewestServer(t *testing.T) {
	found := []string{"/usr/lib/postgresql/9.6/bin/initdb", "/usr/lib/postgresql/15/bin/initdb", "/usr/lib/postgresql/13/bin/initdb"}
	if got := slices.MaxFunc(found, byVersion); got != found[1] {
		t.Error(got)
	}
}
