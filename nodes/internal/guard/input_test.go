package guard

import (
	"fmt"
	"strings"
	"testing"
)

// Standard input is program text if the interpreter has no other program.
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

// The remote command of ssh reads the standard input of ssh.
func TestInputOfRemoteCommands(t *testing.T) {
	for argv, want := range map[string]bool{
		"ssh|host": true, "ssh|host|sh": true, "ssh|host|bash|-s": true, "ssh|host|psql|db": true, "ssh|-p|22|host|--|sudo|sh": true, "ssh|host|set -e; sh": true, "ssh|-m|mac|host|python3": true, "sudo|ssh|host|sh": true,
		"ssh|host|psql|-f|-": true, "ssh|host|-p|22|sh": true,
		"ssh|host|cat": false, "ssh|host|sh|x.sh": false, "ssh|host|psql|-c|select 1": false, "ssh|host|cat > f": false, "ssh|host|wc|-l": false, "ssh|host|grep|sh": false, "ssh|host|python3|-m|json.tool": false,
	} {
		if _, _, got := ReadsProgram(strings.Split(argv, "|")); got != want {
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

func TestExposed(t *testing.T) {
	for argv, want := range map[string]string{
		"sort|{{x}}|in.csv": "[{1 sort}]", "sort|-r|{{x}}": "[{2 sort}]", "sort|--|{{x}}": "[]", "sort|-k1|--|{{x}}": "[]", "sort|-k{{x}}|in.csv": "[]", "git|log|--end-of-options|{{x}}": "[]",
		"env|sort|{{x}}": "[{2 sort}]", "timeout|--|5|sort|{{x}}": "[{4 sort}]", "timeout|5|sort|--|{{x}}": "[]", "timeout|{{x}}|ls": "[{1 timeout}]", "kubectl|exec|pod|--|sh|{{x}}": "[{5 sh}]",
		"curl|https://host/{{x}}": "[]", "curl|--data={{x}}|https://host": "[]", "ssh|-T|{{x}}": "[{2 ssh}]", "./mine|{{x}}": "[{1 mine}]", "cat|./{{x}}": "[]", "find|--|{{x}}": "[{2 find}]",
		"sh|-c|echo \"$1\"|sh|{{x}}": "[]", "nice|bash|-ec|echo \"$1\"|sh|{{x}}": "[]", "python3|-c|x|{{x}}": "[]", "perl|-e|print shift|{{x}}": "[{3 perl}]", "perl|-e|print shift|--|{{x}}": "[]",
		"sh|./x.sh|{{x}}": "[{2 x.sh}]", "python3|-B|tool.py|{{x}}": "[{3 tool.py}]", "sh|{{x}}": "[{1 sh}]",
		"grep|-e|{{x}}|f": "[]", "grep|-ie|{{x}}": "[]", "grep|--regexp|{{x}}|f": "[]", "grep|-f|{{x}}|f": "[]", "grep|-ef|{{x}}": "[{2 grep}]", "grep|-i|{{x}}|f": "[{2 grep}]", "grep|-e|a|{{x}}": "[{3 grep}]", "grep|-m|-e|{{x}}": "[{3 grep}]",
		"jq|--arg|n|{{x}}|$n": "[]", "awk|-v|{{x}}|{print}": "[]", "sort|-t|{{x}}|f": "[]", "env|grep|-e|{{x}}": "[]", "mine|-e|{{x}}": "[{2 mine}]", "git|branch|-m|{{x}}": "[{3 git}]",
		"printf|%s|{{x}}": "[]", "printf|{{x}}": "[{1 printf}]", "awk|{print}|{{x}}": "[{2 awk}]",
	} {
		if got := fmt.Sprint(Exposed(strings.Split(argv, "|"))); got != want {
			t.Errorf("%s: got %s, want %s", argv, got, want)
		}
	}
	for value, want := range map[string]bool{
		"-r": true, "--output=x": true, "---": true, "-é": true, "-": false, "": false, "a-b": false, "- an item": false, "-\n": false,
		"-5": false, "-0.5": false, "-.5": false, "-1e-9": false, "-5x": true, "-n5": true,
	} {
		if got := IsOption("sort", value); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	if IsOption("echo", "-x") || !IsOption("echo", "-n") || !IsOption("echo", "-neE") {
		t.Error("echo has the options n, e and E")
	}
}

// Text after a flag is found whatever program starts the interpreter. Interpreters that
// execute standard input are found after the usual wrappers.
func TestWrapped(t *testing.T) {
	for _, argv := range []string{
		"flock|/tmp/l|sh|-c|echo {{x}}", "unshare|-r|sh|-c|echo {{x}}", "mystery|--flag|v|bash|-lc|{{x}}", "find|.|-exec|sh|-c|rm {{x}}|;", "parallel|sh|-c|{{x}}",
		"flock|/tmp/l|awk|/{{x}}/", "find|.|-name|a|-exec|sed|s/a/{{x}}/|{}|;", "systemd-run|-p|A=b|sqlite3|a.db|select {{x}}", "dc|-e|{{x}} p",
		"mystery|python3|-c|{{x}}", "timeout|-k|1|5|ssh|host|ls|{{x}}", "chroot|/jail|sed|{{x}}",
	} {
		if len(ProgramTexts(strings.Split(argv, "|"))) == 0 {
			t.Errorf("%s passes", argv)
		}
	}
	for _, argv := range []string{"timeout|5|{{x}}", "env|{{x}}|cat", "sudo|-u|me|{{x}}", "xargs|{{x}}", "find|.|-exec|{{x}}|;", "fd|-x|{{x}}", "m4|-DX={{x}}|f.m4", "m4|-D|X={{x}}|f.m4", "env|LD_PRELOAD={{x}}|cat"} {
		if len(Executed(strings.Split(argv, "|"))) == 0 {
			t.Errorf("%s passes", argv)
		}
	}
	for _, argv := range []string{
		"flock|/tmp/l|sh", "unshare|-r|sh", "flock|-w|5|/tmp/l|python3|-", "find|.|-exec|sh|;", "python3|-i", "python3|-i|x.py", "python3|-Bi|-c|x", "python3|-m|pdb|x.py", "node|-i|x.js", "php|-a", "lua|-i|x.lua", "perl|-d|x.pl",
		"at|now", "at|-q|b|now", "batch", "crontab|-", "crontab|-u|me|-", "crontab", "m4", "m4|-DA=b", "m4|-", "dc", "lftp|host", "redis-cli|-h|host", "nice|-n|5|at|now",
		"parallel|sh|-c", "parallel|-j|4|sh|-c|echo {}", "parallel|bash", "parallel|python3|-c|print({})", "parallel|{}", "xargs|-I{}|{}", "parallel|sh -c", "parallel", "setsid|parallel|sh|-c", "chroot|/jail|sh",
	} {
		if _, _, ok := ReadsProgram(strings.Split(argv, "|")); !ok {
			t.Errorf("standard input of %s passes", argv)
		}
	}
	for argv, want := range map[string]string{"mystery|sh": "sh", "mystery|-v|python3|-": "python3", "mystery|psql|db": "psql", "mystery|sh|x.sh": "", "grep|python": "", "./deploy|sh": "", "mystery|script": ""} {
		if got := MaybeReadsProgram(strings.Split(argv, "|")); got != strings.TrimRight(want, "3") {
			t.Errorf("%s: got %q, want %q", argv, got, want)
		}
	}
	for argv, want := range map[string]string{"mystery|awk|/{{x}}/ {print}": "[2]", "mystery|awk|{{x}}": "[]", "grep|awk|a {{x}} b": "[]", "mystery|sed|s/a b/{{x}}/|f": "[2]"} {
		if got := fmt.Sprint(Suspects(strings.Split(argv, "|"))); got != want {
			t.Errorf("%s: got %s, want %s", argv, got, want)
		}
	}
}

// These commands cause no finding, even with a value on their standard input.
func TestOrdinaryCommands(t *testing.T) {
	for _, argv := range []string{
		"timeout|5|./x|script", "timeout|5|./x|script|{{x}}", "env|A={{x}}|./run|awk|{{y}}", "nice|-n|5|gzip|-c", "nohup|./serve|node|--|{{x}}", "sudo|-u|me|install|python|{{x}}", "flock|/tmp/l|./job|sh|--|{{x}}",
		"grep|-c|{{x}}|sh", "grep|-r|ssh|src", "cp|awk|{{x}}", "tee|{{x}}", "cat|sh|{{x}}", "sort|-k|{{n}}|--|{{f}}", "curl|-d|@-|https://host/{{x}}", "tr|a-z|A-Z", "wc|-l", "head|-n|{{n}}",
		"git|commit|-m|{{message}}", "git|-c|user.name={{name}}|commit", "tar|-cf|{{f}}|d", "jq|--arg|n|{{x}}|.a == $n", "awk|-v|n={{x}}|$1 == n", "python3|tool.py|{{x}}", "python3|-c|import sys; print(sys.stdin.read())|{{x}}",
		"node|x.mjs|{{x}}", "sh|-c|cat \"$1\"|sh|{{x}}", "sh|x.sh|{{x}}", "perl|-ne|print|--|{{x}}", "psql|-v|a={{x}}|-f|q.sql", "sqlite3|in.db|select 1", "find|{{d}}|-name|{{x}}", "find|.|-exec|grep|-l|{{x}}|{}|;", "find|.|-exec|sh|x.sh|{}|;",
		"parallel|gzip|{}", "parallel|-j|4|sh|x.sh|{}", "xargs|-n|1|cp|-t|{{d}}", "ssh|{{host}}|uptime", "docker|run|-i|--rm|image|wc|{{x}}", "kubectl|exec|pod|--|cat|{{x}}", "at|-f|job|now", "crontab|file", "crontab|-l", "m4|f.m4",
		"openssl|dgst|-sha256", "pandoc|-f|markdown|-t|html", "convert|-|{{out}}", "gzip|-c", "mail|-s|{{subject}}|{{to}}", "redis-cli|-x|set|{{k}}", "make|{{target}}", "npm|run|watch|--|{{x}}",
	} {
		args := strings.Split(argv, "|")
		name, _, ok := ReadsProgram(args)
		if texts, some, run, maybe := ProgramTexts(args), Suspects(args), Executed(args), MaybeReadsProgram(args); len(texts)+len(some)+len(run) > 0 || ok || maybe != "" {
			t.Errorf("%s: %v %v %v %q %q", argv, texts, some, run, name, maybe)
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
