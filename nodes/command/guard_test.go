package command

import (
	"strings"
	"testing"
)

func TestProgramText(t *testing.T) {
	tests := []struct {
		argv string // separated by |
		want int
	}{
		{"sh|-c|echo {{name}}", 2},
		{"/bin/bash|-euo|pipefail|-c|echo {{name}}", 4},
		{"bash|-lc|echo {{name}}", 2},
		{"sh|-c|echo \"$1\"|sh|{{name}}", -1},
		{"sh|script.sh|{{name}}", -1},
		{"env|A=b|sh|-c|echo {{name}}", 4},
		{"docker|run|python|-c|print({{name}})", 4},
		{"python3|-c|import sys|{{name}}", -1},
		{"node|-e|f({{name}})", 2},
		{"node|--eval=f({{name}})", 1},
		{"node|script.mjs|{{name}}", -1},
		{"perl|-lne|print if /{{name}}/", 2},
		{"psql|-c|select * from {{table}}", 2},
		{"psql|--command=select {{x}}", 1},
		{"psql|-v|name={{x}}|-f|query.sql", -1},
		{`C:\Windows\cmd.exe|/C|del|{{file}}`, 3},
		{"pwsh|-Command|Remove-Item|{{file}}", 3},
		{"git|-c|user.name={{name}}|commit", -1},
		{"grep|-e|{{pattern}}|file", -1},
		{"grep|-c|{{pattern}}|sh", -1},
		{"{{program}}", -1},
	}
	for _, tt := range tests {
		if got, _ := programText(strings.Split(tt.argv, "|")); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.argv, got, tt.want)
		}
	}
}
