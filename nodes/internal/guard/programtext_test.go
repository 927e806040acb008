package guard

import (
	"fmt"
	"strings"
	"testing"
)

// TestProgramText: an argument is program text if the interpreter executes it, whatever
// precedes the interpreter.
func TestProgramText(t *testing.T) {
	tests := []struct {
		argv string // arguments separated by |
		want string // the arguments that are rejected
	}{
		// Shells.
		{"sh|-c|echo {{name}}", "2"},
		{"sh|-c|{{name}}", "2"},
		{"sh|-c|--|echo {{name}}", "3"},
		{"sh|-c|-e|--|echo {{name}}", "4"},
		{"sh|-cx|echo {{name}}", "2"},
		{"sh|-e|-c|echo {{name}}", "3"},
		{"/bin/bash|-euo|pipefail|-c|echo {{name}}", "4"},
		{"bash|-ceuo|pipefail|echo {{name}}", "3"},
		{"bash|-c|-o|pipefail|echo {{name}}", "4"},
		{"bash|--rcfile|/dev/null|-c|echo {{name}}", "4"},
		{"bash|-lc|echo {{name}}", "2"},
		{"zsh|+x|-c|echo {{name}}", "3"},
		{"fish|-c|echo {{name}}", "2"},
		{"fish|--command=echo {{name}}", "1"},
		{"sh|-c|echo \"$1\"|sh|{{name}}", ""},
		{"sh|-c|--|echo \"$1\"|sh|{{name}}", ""},
		{"sh|-c|echo \"$2\"|sh|-c|{{name}}", ""},
		{"sh|script.sh|{{name}}", ""},
		{"sh|script.sh|-c|{{name}}", ""},
		{"sh|--|script.sh|-c|{{name}}", ""},
		// After other programs.
		{"env|A=b|sh|-c|echo {{name}}", "4"},
		{"env|A={{x}}|printenv|A", ""},
		{"env|-S|sh -c {{name}}", "2"},
		{"env|-Ssh -c {{name}}", "1"},
		{"xargs|-0|-n|1|sh|-c|echo {{name}}", "6"},
		{"busybox|sh|-c|echo {{name}}", "3"},
		{"find|.|-exec|sh|-c|rm {{name}}|;", "5"},
		{"docker|run|image|python|-c|print({{name}})", "5"},
		{"kubectl|exec|pod|--|bash|-lc|ls {{name}}", "6"},
		{"sudo|-u|x|awk|/{{name}}/", "4"},
		{"timeout|5|ssh|host|ls|{{name}}", "5"},
		{"su|-|user|-c|ls {{name}}", "4"},
		{"flock|/tmp/l|-c|ls {{name}}", "3"},
		{"watch|-n|5|ls|{{name}}", "4"},
		{"watch|-x|ls|{{name}}", ""},
		{"npm|run|watch|{{name}}", ""},
		{"cp|awk|{{name}}", ""},
		// Languages.
		{"python3|-c|print('{{name}}')", "2"},
		{"python3.12|-Ic|print('{{name}}')", "2"},
		{"python3|-cprint('{{name}}')", "1"},
		{"python3|-W|ignore|-c|print('{{name}}')", "4"},
		{"python3|-c|import sys|{{name}}", ""},
		{"python3|script.py|-c|{{name}}", ""},
		{"python3|-m|tool|-c|{{name}}", ""},
		{"node|-e|f({{name}})", "2"},
		{"node|--eval=f({{name}})", "1"},
		{"node|script.mjs|-e|{{name}}", ""},
		{"deno|eval|f({{name}})", "2"},
		{"perl|-lne|print if /{{name}}/", "2"},
		{"perl|-e|print shift|{{name}}", ""},
		{"perl|-e|1;|-e|print '{{name}}'", "4"},
		{"ruby3.1|-e|puts '{{name}}'", "2"},
		{"lua5.4|-e|print('{{name}}')", "2"},
		{"php|-r|echo '{{name}}';", "2"},
		{"Rscript|-e|cat('{{name}}')", "2"},
		{"vim|-es|+s/x/{{name}}/|f", "2"},
		// Operands that are program text.
		{"awk|/{{name}}/ {print}|file", "1"},
		{"gawk|-F|,|-v|n={{name}}|$1 == n|{{file}}", ""},
		{"awk|-f|x.awk|{{file}}", ""},
		{"awk|-fx.awk|{{file}}", ""},
		{"awk|--|/{{name}}/|file", "2"},
		{"sed|s/NAME/{{name}}/|file", "1"},
		{"sed|-i|-e|s/NAME/{{name}}/|file", "3"},
		{"sed|-n|1p|{{file}}", ""},
		{"sed|-f|x.sed|{{file}}", ""},
		{"jq|.name == \"{{name}}\"|f.json", "1"},
		{"jq|--arg|n|{{name}}|.name == $n|{{file}}", ""},
		{"jq|-r|.name|{{file}}", ""},
		{"ssh|host|ls {{name}}", "2"},
		{"ssh|-p|22|-i|key|host|ls|-l|{{name}}", "8"},
		{"ssh|{{host}}|uptime", ""},
		{"ssh|-p|{{port}}|host|uptime", ""},
		// Databases.
		{"psql|-c|select * from {{table}}", "2"},
		{"psql|-Atc|select {{x}}", "2"},
		{"psql|--command=select {{x}}", "1"},
		{"psql|-c|select 1|-c|select {{x}}", "4"},
		{"psql|-v|name={{x}}|-f|query.sql|{{db}}", ""},
		{"mysql|-sNe|select {{x}}", "2"},
		{"mysql|-h{{host}}|-u|me|db", ""},
		{"sqlite3|x.db|select '{{x}}'", "2"},
		{"sqlite3|-csv|-separator|;|x.db|.mode json|select '{{x}}'", "6"},
		{"sqlite3|-cmd|.timeout {{n}}|x.db", "2"},
		{"sqlite3|-cmd|.timeout 5|x.db|select '{{x}}'", "4"},
		{"sqlite3|{{file}}|select 1", ""},
		{"duckdb|-c|select '{{x}}'", "2"},
		{"clickhouse-client|--query|select {{x}}", "2"},
		{"mongosh|--eval|db.{{x}}", "2"},
		// Windows.
		{`C:\Windows\cmd.exe|/C|del|{{file}}`, "3"},
		{"pwsh|-Command|Remove-Item|{{file}}", "3"},
		{"powershell|Remove-Item|{{file}}", "2"},
		{"powershell|-File|x.ps1|{{file}}", ""},
		// Other programs.
		{"git|-c|user.name={{name}}|commit", ""},
		{"grep|-e|{{pattern}}|file", ""},
		{"grep|-c|{{pattern}}|sh", ""},
		{"{{program}}", ""},
		{"curl|-d|{\"a\": \"{{x}}\"}|url", ""},
	}
	for _, tt := range tests {
		at, _ := programTexts(strings.Split(tt.argv, "|"))
		if got := strings.Trim(fmt.Sprint(at), "[]"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.argv, got, tt.want)
		}
	}
}

// TestSuspects: if an unknown program has an option with a name for program text, its
// argument causes a warning, unless it is a single word.
func TestSuspects(t *testing.T) {
	for argv, want := range map[string]string{
		"tool|-c|do {{x}}":            "2",
		"tool|--eval|f({{x}})":        "2",
		"tool|--command=do {{x}}":     "1",
		"rsync|-e|ssh -p {{port}}|a":  "2",
		"tool|-c|{{x}}":               "",
		"tool|-c|{{ $.a + 1 }}":       "",
		"tool|-c|name={{x}}":          "",
		"tool|-c|do it|{{x}}":         "",
		"tool|-m|Release of {{x}}":    "",
		"git|-c|user.name=Dr {{x}}|a": "",
		"docker|run|-e|A=b {{x}}|i":   "",
		"sh|-c|echo {{x}}":            "", // already an error
		"echo|Dear {{name}}, ...":     "",
	} {
		if got := strings.Trim(fmt.Sprint(suspects(strings.Split(argv, "|"))), "[]"); got != want {
			t.Errorf("%s: got %q, want %q", argv, got, want)
		}
	}
}
