package sql

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// shows reports whether one of the words appears in any part of an error, or in
// the log.
func shows(err error, log string, words ...string) string {
	texts := []string{log, fmt.Sprintf("%v %+v %q", err, err, err), value.JSON(core.FailureOf(err).Message)}
	for e := err; e != nil; e = errors.Unwrap(e) {
		texts = append(texts, e.Error())
	}
	for _, text := range texts {
		for _, w := range words {
			if strings.Contains(text, w) {
				return text
			}
		}
	}
	return ""
}

// Whatever error occurs, a password is never shown, and neither is any part of
// a secret connection string.
func TestPasswordsStayHidden(t *testing.T) {
	for _, dsn := range []string{
		"postgres://etl:s3cretword@127.0.0.1:1/d",
		"postgres://etl:s3cretword@127.0.0.1:notaport/d",
		"postgres://etl:s3cretword%zz@127.0.0.1:1/d",
		"postgres://etl:s3cretword@[::1/d",
		"postgres://etl:s3cret@word@127.0.0.1:1/d",
		"postgres://127.0.0.1:1/d?user=etl&password=s3cretword&sslmode=bogus",
		"postgres://127.0.0.1:1/d?user=etl&password=s3cretword&connect_timeout=x",
		"host=127.0.0.1 port=1 user=etl password=s3cretword",
		"host=127.0.0.1 port=x user=etl password='s3cretword more'",
		"host=127.0.0.1 port=1 user=etl password=s3cretword sslmode=bogus",
		"host=127.0.0.1 password = s3cretword port=1 what",
		"s3cretword",
	} {
		for _, keys := range []string{`"query": "SELECT 1", "writes": ["out"]`, `"query": "SELECT 1", "stream": true, "writes": ["out"]`, `"exec": "SELECT 1"`, `"table": "t", "from": "rows"`} {
			for _, secret := range []bool{true, false} {
				node := `{"dsn": {"secret": "DSN"}, "driver": "postgres", ` + keys + `}`
				words := []string{"s3cret", "127.0.0.1"}
				if !secret {
					if !strings.Contains(dsn, "password") && !strings.Contains(dsn, "@") {
						continue // nothing says that this is a password
					}
					node = `{"dsn": ` + value.JSON(dsn) + `, "driver": "postgres", ` + keys + `}`
					words = words[:1]
				}
				log := &nodestest.Log{}
				in := core.NewInput("run", "n", 1, core.Shared{Log: slog.New(log), View: core.NewView([]string{"rows"}, []any{[]any{}})})
				_, err := compiled(t, dsn, node).Handle(t.Context(), in)
				if err == nil {
					t.Fatalf("%s: no error", dsn)
				}
				if text := shows(err, log.Text(), words...); text != "" {
					t.Errorf("%s (secret %v): shown in %s", dsn, secret, text)
				}
			}
		}
		_, ds := Kind.Compile(nodestest.Node(t, `{"dsn": `+value.JSON(dsn)+`, "exec": "DELETE FROM t"}`), core.Env{})
		if strings.Contains(fmt.Sprint(ds), "s3cret") {
			t.Errorf("%s: findings %v", dsn, ds)
		}
	}
}

func TestPostgresLoginStaysHidden(t *testing.T) {
	s := server(t)
	u, err := url.Parse(s.dsn())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", "wrong one/%")
	for _, secret := range []bool{true, false} {
		node := `{"dsn": {"secret": "DSN"}, "driver": "postgres", "exec": "SELECT 1"}`
		if !secret {
			node = `{"dsn": ` + value.JSON(u.String()) + `, "exec": "SELECT 1"}`
		}
		_, err = compiled(t, u.String(), node).Handle(t.Context(), core.Input{})
		if err == nil || !strings.Contains(err.Error(), "password authentication failed") || !core.FailureOf(err).Permanent {
			t.Errorf("error %v", err)
		}
		if text := shows(err, "", "wrong one", "wrong%20one"); text != "" {
			t.Errorf("secret %v: shown in %s", secret, text)
		}
	}
	// Neither do the results of what goes right, nor errors that quote a statement.
	u.User = url.UserPassword("postgres", s.Password)
	node := `{"dsn": ` + value.JSON(u.String()) + `, "stream": true, "writes": ["out"], "query": "SELECT 1 AS a"}`
	r, err := compiled(t, "", node).Handle(t.Context(), core.Input{})
	if got, want := nodestest.Text(r), `{"out":{"source":"postgres://`+u.Host+`/postgres"}} (rows of postgres://`+u.Host+`/postgres)`; err != nil || got != want {
		t.Errorf("result %s, %v, want %s", got, err, want)
	}
	for _, secret := range []string{s.Password, s.dsn()} {
		_, err = onServer(s, `"args": {"p": 0}, "exec": "SELECT (:p::text)::int"`).Handle(t.Context(), input(t, "", "", `{"p": `+value.JSON(secret)+`}`))
		if want := `postgres: invalid input syntax for type integer: "***" [22P02]`; err == nil || err.Error() != want || !core.FailureOf(err).Permanent {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// The engine learns what to hide in everything it shows of a run.
func TestSecretsAreDeclared(t *testing.T) {
	for _, c := range []struct{ dsn, env, want string }{
		{`{"secret": "DSN"}, "driver": "postgres"`, "postgres://etl:a%20b@h/d", `DSN "postgres://etl:a%20b@h/d", password in DSN "a b", `},
		{`{"secret": "DSN"}, "driver": "postgres"`, "host=h", `DSN "host=h", password in DSN "", `},
		{`{"secret": "DSN"}, "driver": "sqlite"`, "x.db", `DSN "x.db", `},
		{`"postgres://etl:word@h/d"`, "", `password in dsn "word", `},
		{`"x.db"`, "", ""},
	} {
		made, _ := kindWith(c.env).Compile(nodestest.Node(t, `{"dsn": `+c.dsn+`, "exec": "DELETE FROM t"}`), core.Env{})
		got := ""
		for _, s := range made.Secrets {
			v, _ := s.Read()
			got += fmt.Sprintf("%s %q, ", s.Name.Value, v)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.dsn, got, c.want)
		}
	}
}

// A path in the environment that is a URI is not shown, not even a part of it.
func TestSecretURIStaysHidden(t *testing.T) {
	for _, dsn := range []string{"file:s3cret.db?mode=ro", "sqlite:s3cret.db?mode=ro"} {
		h := compiled(t, dsn, `{"dsn": {"secret": "DSN"}, "driver": "sqlite", "exec": "CREATE TABLE t (a)"}`)
		_, err := h.Handle(t.Context(), core.Input{})
		if err == nil || !strings.Contains(err.Error(), "write the path of the file") || !core.FailureOf(err).Permanent {
			t.Errorf("%s: error %v", dsn, err)
		} else if text := shows(err, "", "s3cret"); text != "" {
			t.Errorf("%s: shown in %s", dsn, text)
		}
	}
}

func TestSecretIsNotSet(t *testing.T) {
	h := compiled(t, "", `{"dsn": {"secret": "OTHER"}, "driver": "postgres", "exec": "SELECT 1"}`)
	if _, err := h.Handle(t.Context(), core.Input{}); err == nil || err.Error() != "dsn: the environment variable OTHER is not set" || !core.FailureOf(err).Permanent {
		t.Errorf("error %v", err)
	}
}
