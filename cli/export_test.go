package cli_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestExportHasNoSecrets looks for the value of a secret in an archive, where the run has it in a short
// result, in one that is a blob, and in an encoded form.
func TestExportHasNoSecrets(t *testing.T) {
	const secret, document = "hunter2-hunter2", `
name: secrets
state: {schema: {short: {type: string}, long: {type: string}}}
graph:
  nodes:
    - {id: short, kind: command, run: [sh, -c, 'printf "a $TOKEN"; printf "$TOKEN" >&2'], env: {TOKEN: {secret: TOKEN}}, output: text, writes: [short]}
    - {id: long, kind: command, run: [sh, -c, 'head -c 100000 /dev/zero | tr "\0" x; printf " $TOKEN "; printf "$TOKEN" | base64'], env: {TOKEN: {secret: TOKEN}}, output: text, writes: [long]}
`
	t.Setenv("TOKEN", secret)
	dir := t.TempDir()
	workflow, exported := filepath.Join(dir, "workflow.yaml"), filepath.Join(dir, "exported")
	if err := os.WriteFile(workflow, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--run-id", "r123", workflow}, {"export", "r123", "-o", exported, "--store", "file:" + filepath.Join(dir, ".wavefold")}} {
		var out, stderr bytes.Buffer
		if code := cli.Run(t.Context(), wavefold.NewEngine(std.Kinds()...), args, cli.Streams{Out: &out, Err: &stderr, Getenv: func(string) string { return "" }}); code != 0 {
			t.Fatalf("%s: exit code %d: %s", args, code, &stderr)
		}
	}
	f, err := os.Open(exported)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 100_000 || strings.Count(string(data), "secret:") < 3 {
		t.Fatalf("%d bytes with %d references to secrets", len(data), strings.Count(string(data), "secret:"))
	}
	for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
		if at := bytes.Index(data, []byte(form)); at >= 0 {
			t.Errorf("the archive has the secret as %q: %q", form, data[max(0, at-100):at+len(form)])
		}
	}
}
