package command

import (
	"fmt"
	"strings"
	"testing"
)

// Standard input is program text where the interpreter has no other program.
func TestProgramFromInput(t *testing.T) {
	for argv, want := range map[string]bool{
		"sh": true, "bash|-e": true, "sh|-s": true, "sh|-s|a": true, "bash|-es|--|a": true, "sh|-": true,
		"sh|-c|cat": false, "sh|x.sh": false, "sh|--|x.sh": false, "bash|-o|pipefail": true, "sh|/dev/stdin": true,
		"python3": true, "python3|-": true, "python3.12|-I": true, "python3|-c|x": false, "python3|-m|json.tool": false, "python3|x.py": false,
		"perl": true, "perl|-ne|print": false, "ruby|x.rb": false, "node|-": true, "node|x.mjs": false, "php": true,
		"sqlite3|in.db": true, "sqlite3|-csv|in.db": true, "sqlite3|in.db|select 1": false, "duckdb": true, "duckdb|-c|select 1": false,
		"psql": true, "psql|db": true, "psql|-f|q.sql": false, "psql|-f|-": true, "psql|-c|select 1": false, "mysql|-u|me|db": true, "mysql|-e|select 1": false,
		"clickhouse-client": true, "clickhouse-client|--query|insert into t format CSV": false, "mongosh": true,
		"gdb|prog": true, "ex|f": true, "powershell": true, "pwsh|-Command|-": true, "pwsh|-File|x.ps1": false,
		"ssh|host": true, "ssh|host|cat": false, "ssh|-p|22|host": true,
		"env|A=b|sh": true, "sudo|-u|x|psql": true, "timeout|5|python3": true, "docker|exec|-i|c|bash": true, "nice|cat": false, "env|A=b|cat": false,
		"xargs|sh|-c": true, "xargs|sh": true, "xargs|-n|1|sh|-c": true, "xargs|env|bash|-c": true, "env|A=b|xargs|sh|-c": true, "xargs|-I{}|sh|-c|echo {}": true, "xargs|-I|%|sh|-c|echo %": true,
		"xargs|sh|-c|echo \"$1\"|sh": false, "xargs|sh|x.sh": false, "xargs|-I{}|sh|-c|echo \"$1\"|sh|{}": false, "xargs|cat": false, "xargs": false, "xargs|grep|python": false,
		"xargs|-a|items|sh|-c": false, "xargs|python3|-c": true, "xargs|awk": true, "xargs|sqlite3|in.db": true, "xargs|ssh|host": true, "xargs|-I{}|ssh|{}|uptime": false, "xargs|rm|-f": false,
		"sed|-f|/dev/stdin|f": true, "sed|-nf|-|f": true, "sed|--file=/dev/fd/0": true, "sed|-f|x.sed": false, "sed|-e|s/a/b/|-": false,
		"awk|-f|/dev/stdin": true, "awk|-f/proc/self/fd/0": true, "awk|-f|lib.awk|-f|-": true, "awk|-f|x.awk|-": false, "awk|{print}|-": false, "awk|{print}|/dev/stdin": false, "gawk|--file=/dev/stdin": true,
		"jq|-f|/dev/stdin|a": true, "jq|--from-file|/dev/fd/0|a": true, "jq|-f|x.jq": false, "jq|.|/dev/stdin": false, "yq|.|-": false,
		"bash|/proc/self/fd/0": true, "sh|--|/dev/stdin": true, "sh|x.sh|-": false, "python3|/dev/fd/0": true, "python3|x.py|/dev/stdin": false, "python3|-|a": true, "psql|-f/dev/stdin": true, "psql|--file=/dev/fd/0": true,
		"make|-f|-": true, "make|--file=/dev/stdin": true, "make|--makefile|-": true, "make|all": false, "make|-f|x.mk": false, "deno|run|-": true, "deno|run|x.ts": false,
		"sqlite3|in.db|.read /dev/stdin": true, "sqlite3|in.db|.import /dev/stdin t": false, "psql|-c|\\i /dev/stdin": true, "psql|-c|\\copy t from stdin": false,
		"sh|-c|. /dev/stdin": true, "bash|-c|source /dev/fd/0": true, "sh|-c|eval \"$(cat)\"": true, "sh|-c|sh": true, "sh|-c|PGHOST=x psql db": true, "sh|-c|exec bash -s": true,
		"sh|-c|cat > f; sh f": false, "sh|-c|cat /dev/stdin": false, "sh|-c|exec cat": false, "sh|-c|psql db < q.sql": false, "sh|-c|while read l; do echo $l; done": false,
		"python3|-c|exec(sys.stdin.read())": true, "python3|-c|import sys; print(sys.stdin.read())": false, "perl|-e|eval <STDIN>": true, "perl|-e|do '/dev/stdin'": true,
		"tclsh": true, "tclsh|x.tcl": false, "ed|-s": true, "ed|-s|f": true, "su|me": true, "su|me|-c|cat": false, "parallel": true, "parallel|gzip": false,
		"awk|{print}": false, "sed|s/a/b/": false, "jq|.": false, "cat": false, "tr|a|b": false, "cp|sh": false,
	} {
		if _, _, got := readsProgram(strings.Split(argv, "|")); got != want {
			t.Errorf("%s: got %v, want %v", argv, got, want)
		}
	}
}

func TestShellsThatRunTheirInput(t *testing.T) {
	for text, want := range map[string]bool{
		"cat | sh": true, "cat - | bash -s": true, "set -e; psql db": true, "if true; then sqlite3 in.db; fi": true,
		"echo x | sh": false, "jq .a | wc -l": false, "cat | sh x.sh": false, "cat q.sql | psql db": false, "psql db <<'E'\nselect 1\nE": false,
	} {
		if _, _, got := readsProgram([]string{"sh", "-c", text}); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestCodeVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"BASH_ENV": true, "LD_PRELOAD": true, "LD_LIBRARY_PATH": true, "PYTHONSTARTUP": true, "NODE_OPTIONS": true, "PERL5OPT": true, "RUBYOPT": true,
		"GIT_SSH_COMMAND": true, "GIT_EXTERNAL_DIFF": true, "GIT_CONFIG_COUNT": true, "PAGER": true, "PATH": true, "JAVA_TOOL_OPTIONS": true,
		"GIT_AUTHOR_NAME": false, "GIT_COMMITTER_DATE": false, "NAME": false, "TOKEN": false, "HOME": false, "PGPASSWORD": false, "LESSON": false, "ENVIRONMENT": false,
	} {
		if got := isCodeVariable(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestOptionsThatRun(t *testing.T) {
	for argv, want := range map[string]string{
		"git|-c|core.pager={{x}}|log": "[2]", "git|-c|{{x}}|log": "[2]", "git|-c|user.name={{x}}|commit": "[]", "git|clone|--upload-pack={{x}}|url": "[2]", "git|log|--|{{x}}": "[]",
		"tar|-xf|a.tar|--to-command={{x}}": "[3]", "tar|-I|{{x}}|-cf|a": "[2]", "tar|-cf|{{x}}|d": "[]",
		"find|.|-exec|{{x}}|;": "[3]", "find|.|-name|{{x}}": "[]", "man|-P|{{x}}|ls": "[2]", "zip|-T|-TT|{{x}}|a.zip": "[3]",
		"java|-XX:OnError={{x}}|-jar|a.jar": "[1]", "java|-jar|a.jar|{{x}}": "[]", "ssh|-o|ProxyCommand={{x}}|host": "[2]", "ssh|-oProxyCommand={{x}}|host": "[1]", "ssh|-o|Port={{x}}|host": "[]",
		"rsync|-e|{{x}}|a|b": "[2]", "sort|--compress-program={{x}}": "[1]",
		"sudo|git|-c|core.pager={{x}}|log": "[3]", "env|BASH_ENV={{x}}|cat": "[1]", "env|NAME={{x}}|cat": "[]", "timeout|5|find|.|-exec|{{x}}|;": "[5]",
	} {
		if got := fmt.Sprint(executed(strings.Split(argv, "|"))); got != want {
			t.Errorf("%s: got %s, want %s", argv, got, want)
		}
	}
}

func TestValuesThatMayBeOptions(t *testing.T) {
	for argv, want := range map[string]string{
		"sort|{{x}}|in.csv": "[1]", "sort|--|{{x}}": "[]", "sort|-k|{{x}}|in.csv": "[]", "sort|-k1|--|{{x}}": "[]", "curl|-d|{{x}}|https://host": "[]",
		"curl|https://host/{{x}}": "[]", "ssh|{{x}}|uptime": "[1]", "git|log|{{x}}": "[]", "tar|cf|{{x}}|d": "[]", "echo|{{x}}": "[]", "cat|{{x}}": "[]", "./mine|{{x}}": "[]",
	} {
		if got := fmt.Sprint(unguarded(strings.Split(argv, "|"))); got != want {
			t.Errorf("%s: got %s, want %s", argv, got, want)
		}
	}
}

func TestNameOfTheShell(t *testing.T) {
	for argv, want := range map[string]int{
		`sh|-c|echo "$1"|{{x}}`: 3, `bash|-e|-c|echo "$1"|{{x}}|{{y}}`: 4, `sh|-c|echo "$1"|sh|{{x}}`: 0, `sh|-c|echo "$0"|{{x}}`: 0, `sh|-c|date`: 0, `python3|-c|x|{{x}}`: 0,
	} {
		got, _ := nameless(strings.Split(argv, "|"))
		if got != want {
			t.Errorf("%s: got %d, want %d", argv, got, want)
		}
	}
}
