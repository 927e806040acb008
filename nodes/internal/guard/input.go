package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// databases lists clients that read program text from standard input unless an option
// provides it.
var databases = []string{"psql", "mysql", "mariadb", "hive", "beeline", "cqlsh", "clickhouse", "clickhouse-client", "snowsql",
	"impala-shell", "trino", "presto", "mongo", "mongosh", "influx", "sqlcmd", "sqlite", "duckdb", "gdb",
	"lldb", "vim", "vi", "ex", "ed", "red", "powershell", "pwsh", "cmd", "ssh", "su", "runuser", "m4", "dc",
	"at", "batch", "crontab", "lftp", "ftp", "sqlplus", "isql", "redis-cli", "valkey-cli"}

// elsewhere matches options that give an interpreter its program from another place
// than standard input, in addition to the flags in its row.
var elsewhere = lazyregexp.New(`^(-m|-f|-r|--file|--eval|--print|--version|--help|-V)(=|$)`)

// readsProgram reports whether a command executes its standard input, and which
// interpreter does.
func readsProgram(argv []string) (name string, in *interpreter, ok bool) {
	if len(argv) == 0 {
		return "", nil, false
	}
	for _, i := range commands(argv) {
		command := argv[i:]
		if end := slices.Index(command, ";"); end > 0 { // the end of find's -exec
			command = command[:end]
		}
		if name, in, ok = executesInput(command); ok {
			return name, in, true
		}
	}
	return "", nil, false
}

// executesInput is readsProgram for one command, without the commands that it starts as a
// wrapper.
func executesInput(argv []string) (name string, in *interpreter, ok bool) {
	name = programName(argv[0])
	in = interpreterOf(name)
	var command []string
	items := false
	switch name {
	case "env":
		return "", nil, false
	case "xargs":
		command, items = xargs(argv[1:])
	case "parallel":
		command, items = parallel(argv[1:])
	}
	if items && len(command) > 0 {
		if hasTemplate(command[0]) {
			return name, interpreterOf("parallel"), true
		}
		return itemIsCode(command)
	}
	return name, in, in != nil && in.fromInput(name, argv[1:])
}

// unmistakable lists interpreters whose names are unlikely to be other words.
var unmistakable = []string{"sh", "bash", "dash", "ksh", "mksh", "zsh", "ash", "fish", "csh", "tcsh", "python", "perl", "ruby", "psql",
	"sqlite", "mysql", "pwsh", "powershell"}

// maybeReadsProgram returns the interpreter that executes standard input if an unknown
// program starts it, or "" if there is none. It ignores programs in the document's
// folder, because its author knows them.
func maybeReadsProgram(argv []string) string {
	if known(argv) || strings.Contains(argv[0], "/") {
		return ""
	}
	for i := 1; i < len(argv); i++ {
		if name := programName(argv[i]); slices.Contains(unmistakable, name) && interpreterOf(name).fromInput(name, argv[i+1:]) {
			return name
		}
	}
	return ""
}

// parallel is xargs for GNU parallel. If the command has no placeholder, the item
// becomes its last argument.
func parallel(args []string) (command []string, items bool) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, ":::") || a == "-a" || strings.HasPrefix(a, "--arg-file") || a == "--pipe"
		}):
			return nil, false
		case matches(`^-[jNnLPdSC]$|^--(jobs|max-args|max-procs|delimiter|colsep|sshlogin|timeout|delay|retries|joblog|results|tmpdir|workdir|load|memfree)$`, arg):
			i++
		case len(arg) > 1 && arg[0] == '-':
		default:
			replaced := false
			for _, a := range args[i:] {
				item := replacement.ReplaceAllString(a, anItem)
				replaced = replaced || item != a
				command = append(command, item)
			}
			if !replaced {
				command = append(command, anItem)
			}
			return append(strings.Fields(command[0]), command[1:]...), true
		}
	}
	return nil, true
}

// replacement matches the placeholders that parallel replaces by the item or a part of
// it.
var replacement = lazyregexp.New(`\{[0-9]*(/|//|/\.|\.|\+|=.*=)?\}`)

// xargs returns the command that xargs runs, with anItem in place of the items. items
// reports whether the items come from standard input.
func xargs(args []string) (command []string, items bool) {
	items = true
	replaced := ""
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-a" || arg == "--arg-file":
			items = false
			i++
		case strings.HasPrefix(arg, "-a") || strings.HasPrefix(arg, "--arg-file="):
			items = false
		case arg == "-I" && i+1 < len(args):
			i++
			replaced = args[i]
		case strings.HasPrefix(arg, "-I"):
			replaced = arg[2:]
		case arg == "-i" || arg == "--replace":
			replaced = "{}"
		case strings.HasPrefix(arg, "-i") || strings.HasPrefix(arg, "--replace="):
			replaced = strings.TrimPrefix(strings.TrimPrefix(arg, "-i"), "--replace=")
		case matches(`^-[nLPsdE]$|^--(max-args|max-procs|max-chars|delimiter)$`, arg):
			i++
		case len(arg) > 1 && arg[0] == '-':
		case replaced == "":
			return append(slices.Clone(args[i:]), anItem), items
		default:
			for _, a := range args[i:] {
				command = append(command, strings.ReplaceAll(a, replaced, anItem))
			}
			return command, items
		}
	}
	return nil, items
}

// anItem is a template in place of an item that xargs reads.
const anItem = "{{item}}"

// itemIsCode reports whether an item of xargs becomes program text, or the name of a file with
// program text.
func itemIsCode(command []string) (name string, in *interpreter, ok bool) {
	if len(command) == 0 {
		return "", nil, false
	}
	if _, of := programTexts(command); len(of) > 0 {
		return of[0].name, of[0].interpreter, true
	}
	if last := len(command) - 1; command[last] == anItem {
		return readsProgram(command[:last])
	}
	return "", nil, false
}

// fromInput reports whether the interpreter executes its standard input, either because
// it has no other program or because its program does so.
func (in *interpreter) fromInput(name string, args []string) bool {
	for _, k := range in.texts(args, true) {
		if k < len(args) && (runsInput.MatchString(args[k]) || in.textIsOperand && shellRunsInput(args[k])) {
			return true
		}
	}
	if remote := in.remote(name, args); len(remote) > 0 {
		return shellRunsInput(strings.Join(remote, " "))
	}
	database := slices.Contains(databases, name)
	switch {
	case in.isInteractive(args):
		return true
	case name == "deno":
		return slices.ContainsFunc(args, isInput)
	case in.file != "" && !database && !in.all:
		return in.fileIsInput(args) // for awk, sed and jq, standard input is otherwise data
	case !in.script && !database:
		return false
	}
	operands := 0
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case isInput(arg):
			return true
		case arg == "--":
			operands += len(args) - i - 1
			if !database && i+1 < len(args) {
				return isInput(args[i+1])
			}
			i = len(args)
		case in.textIsOperand && matches(`^-[a-zA-Z]*s`, arg):
			return true // the other arguments belong to the program
		case matches(in.flag, arg) || matches(in.file, arg) || elsewhere.MatchString(arg):
			return i+1 < len(args) && isInput(args[i+1]) || isInput(afterEqual(arg)) || in.fileIsInput(args)
		case in.isOption(arg):
			i += in.valuesOf(arg)
		case !database:
			return false // a program file; the other arguments belong to it
		default:
			operands++
		}
	}
	switch {
	case !database:
		return operands == 0
	case in.operand > 0 || in.all || in.full > 0:
		return operands < max(in.operand, in.full, 1)
	}
	return true
}

// remote returns the command that ssh runs on the remote host, or nil if there is none.
func (in *interpreter) remote(name string, args []string) []string {
	if name != "ssh" {
		return nil
	}
	host, ended := false, false
	for i := 0; i < len(args); i++ {
		switch {
		case !ended && args[i] == "--":
			ended = true
		case !ended && in.isOption(args[i]):
			i += in.valuesOf(args[i])
		case host:
			return args[i:]
		default:
			host = true
		}
	}
	return nil
}

// isInteractive reports whether an option makes the interpreter read statements from
// standard input in addition to its program.
func (in *interpreter) isInteractive(args []string) bool {
	if in.interactive == "" {
		return false
	}
	option := regexp.MustCompile(in.interactive)
	for i := 0; i < len(args) && in.isOption(args[i]) && args[i] != "--"; i++ {
		switch m := option.FindString(args[i]); {
		case m == "-m": // Python's option for a module
			return i+1 < len(args) && slices.Contains([]string{"code", "pdb", "asyncio", "IPython"}, args[i+1])
		case m != "":
			return true
		case matches(in.flag, args[i]):
			i++
		default:
			i += in.valuesOf(args[i])
		}
	}
	return false
}

// fileIsInput reports whether the option for a program file names standard input.
func (in *interpreter) fileIsInput(args []string) bool {
	if in.file == "" {
		return false
	}
	file := regexp.MustCompile(in.file)
	for i, arg := range args {
		end := file.FindStringIndex(arg)
		switch {
		case arg == "--":
			return false
		case end == nil:
		case isInput(strings.TrimPrefix(arg[end[1]:], "=")), end[1] == len(arg) && i+1 < len(args) && isInput(args[i+1]):
			return true
		}
	}
	return false
}

func isInput(s string) bool {
	return slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, s)
}

func afterEqual(s string) string { _, v, _ := strings.Cut(s, "="); return v }

// runsInput matches program texts that execute standard input: . /dev/stdin in a shell,
// .read of sqlite3, \i of psql, eval and exec of other languages.
var runsInput = lazyregexp.New(`(^|[\s;&|({])(\.|source|\.read|\\ir?|do|load|require|include|dofile|loadfile)\s*\(?\s*["']?(/dev/stdin|/dev/fd/0|/proc/self/fd/0)\b` +
	"|(^|[^.\\w])eval\\s+[\"']?(\\$\\(\\s*cat\\s*-?\\s*\\)|`cat`)" +
	`|(^|[^.\w])(eval|exec)\s*\([^{;]*(?i:stdin)|(^|[^.\w])eval\s+[^{;]*<STDIN>`)

var (
	pipelines = lazyregexp.New(`&&|\|\||[;&\n]`)
	prelude   = lazyregexp.New(`^(do|then|else|exec|command|time|!|\(|\{|[A-Za-z_]\w*=.*)$`)
)

// shellRunsInput reports whether a shell program starts an interpreter that executes
// the shell's standard input: at the beginning of a pipeline, or after cat.
func shellRunsInput(text string) bool {
	for _, pipeline := range pipelines.Split(text, -1) {
		for _, command := range strings.Split(pipeline, "|") {
			words := strings.Fields(command)
			for len(words) > 0 && prelude.MatchString(words[0]) {
				words = words[1:]
			}
			if strings.Contains(command, "<") || len(words) == 0 {
				break
			}
			if _, _, ok := readsProgram(words); ok {
				return true
			}
			if words[0] != "cat" || len(words) > 1 && !isInput(words[1]) {
				break
			}
		}
	}
	return false
}
