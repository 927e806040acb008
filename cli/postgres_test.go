package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wavefold/wavefold/internal/postgrestest"
)

// TestPostgres runs the scripts under testdata/postgres, in which $WAVEFOLD_STORE is the URL of a store.
func TestPostgres(t *testing.T) {
	server, stop, err := postgrestest.Start()
	if err != nil {
		postgrestest.Missing(t, err)
	}
	t.Cleanup(stop)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "postgres"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			schema := "jobs_" + strings.TrimPrefix(filepath.Base(env.WorkDir), "script-") // the scripts run at the same time
			env.Vars = append(env.Vars, promptRace, "WAVEFOLD_STORE="+server.DSN("")+"&schema="+schema, "WAVEFOLD_DATABASE="+server.DSN(""))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code, "interrupt": interrupt},
	})
}
