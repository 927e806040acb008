package command

import (
	"regexp"
	"slices"
	"strings"
)

// databases are clients that take program text from standard input unless an option
// gives them one.
var databases = strings.Fields("psql mysql mariadb hive beeline cqlsh clickhouse clickhouse-client snowsql impala-shell trino presto mongo mongosh influx sqlcmd sqlite duckdb " +
	"gdb lldb vim vi ex ed red powershell pwsh cmd ssh su runuser")

// elsewhere matches options by which an interpreter gets its program from another place
// than standard input, beyond the flags of its row.
var elsewhere = regexp.MustCompile(`^(-m|-f|-r|--file|--eval|--print|--version|--help|-V)(=|$)`)

// readsProgram reports whether a program takes its standard input for program text, and
// which.
func readsProgram(argv []string) (name string, in *interpreter, ok bool) {
	if len(argv) == 0 {
		return "", nil, false
	}
	first := programName(argv[0])
	if first == "xargs" {
		command, items := xargs(argv[1:])
		if name, in, ok = fed(command); items && ok {
			return name, in, true
		}
		return readsProgram(command)
	}
	wrapped := slices.Contains(wrappers, first)
	for i, arg := range argv {
		name = programName(arg)
		if i > 0 && name == "xargs" {
			return readsProgram(argv[i:])
		}
		if in = interpreterOf(name); in != nil && name != "env" {
			return name, in, in.fromInput(name, argv[i+1:])
		}
		if !wrapped {
			return "", nil, false
		}
	}
	return "", nil, false
}

// xargs returns the command that xargs runs, with a template where the items of standard
// input go, and whether the items come from there.
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

// anItem stands for what xargs reads.
const anItem = "{{item}}"

// fed reports whether an item of xargs becomes program text: as a text, or as the name of
// the file with the program.
func fed(command []string) (name string, in *interpreter, ok bool) {
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

// fromInput reports whether the interpreter has no other program than its standard input,
// or one that runs that.
func (in *interpreter) fromInput(name string, args []string) bool {
	for _, k := range in.texts(args, true) {
		if k < len(args) && (runsInput.MatchString(args[k]) || in.late && shellRunsInput(args[k])) {
			return true
		}
	}
	database := slices.Contains(databases, name)
	switch {
	case name == "deno":
		return slices.ContainsFunc(args, isInput)
	case in.file != "" && !database && !in.all:
		return in.fileIsInput(args) // of awk, sed and jq it is data otherwise
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
		case in.late && matches(`^-[a-zA-Z]*s`, arg):
			return true // what follows are the arguments of the program
		case matches(in.flag, arg) || matches(in.file, arg) || elsewhere.MatchString(arg):
			return i+1 < len(args) && isInput(args[i+1]) || isInput(afterEqual(arg)) || in.fileIsInput(args)
		case in.isOption(arg):
			i += in.valuesOf(arg)
		case !database:
			return false // a file with the program; what follows are its arguments
		default:
			operands++
		}
	}
	switch {
	case !database:
		return operands == 0
	case in.operand > 0 || in.all:
		return operands < max(in.operand, 1)
	}
	return true
}

// fileIsInput reports whether an option that names a file with the program names standard
// input.
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

// runsInput matches program texts that run what they read: . /dev/stdin in a shell, .read
// of sqlite3, \i of psql, eval and exec of languages.
var runsInput = regexp.MustCompile(`(^|[\s;&|({])(\.|source|\.read|\\ir?|do|load|require|include|dofile|loadfile)\s*\(?\s*["']?(/dev/stdin|/dev/fd/0|/proc/self/fd/0)\b` +
	"|(^|[^.\\w])eval\\s+[\"']?(\\$\\(\\s*cat\\s*-?\\s*\\)|`cat`)" +
	`|(^|[^.\w])(eval|exec)\s*\([^{;]*(?i:stdin)|(^|[^.\w])eval\s+[^{;]*<STDIN>`)

var (
	pipelines = regexp.MustCompile(`&&|\|\||[;&\n]`)
	prelude   = regexp.MustCompile(`^(do|then|else|exec|command|time|!|\(|\{|[A-Za-z_]\w*=.*)$`)
)

// shellRunsInput reports whether a text for a shell starts an interpreter that runs the
// standard input of the shell: at the beginning of a pipeline, or behind cat.
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

// codeVariable matches the names of variables that make programs run or load something.
var codeVariable = regexp.MustCompile(`^(BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|ENV|PS4|PROMPT_COMMAND|IFS|PATH|SHELL|ZDOTDIR` +
	`|LD_.*|DYLD_.*|GCONV_PATH|PYTHON(STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS)|NODE_(OPTIONS|PATH|REPL_EXTERNAL_MODULE)` +
	`|PERL(5OPT|5LIB|LIB|5DB)|RUBY(OPT|LIB)|LUA_(INIT|PATH|CPATH)(_.*)?|(JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|CLASSPATH|PHPRC|PHP_INI_SCAN_DIR` +
	`|R_(PROFILE|ENVIRON)(_USER)?|R_LIBS.*|JULIA_.*|(MAN|GIT_|PSQL_|SYSTEMD_)?PAGER|LESS(OPEN|CLOSE)?|EDITOR|VISUAL|PSQL_EDITOR|PSQLRC|BROWSER` +
	`|VIMINIT|EXINIT|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|MAKEFLAGS|GNUMAKEFLAGS|AWKPATH|AWKLIBPATH|OPENSSL_CONF|OPENSSL_MODULES|GIT_.*)$`)

// dataVariable matches those among them that are data.
var dataVariable = regexp.MustCompile(`^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|TERMINAL_PROMPT|TRACE.*|MERGE_AUTOEDIT)$`)

func isCodeVariable(name string) bool {
	return codeVariable.MatchString(name) && !dataVariable.MatchString(name)
}

// nameless returns the argument after the text of sh -c if it has a template: the shell
// takes it for its own name, $0, unless the text asks for that.
func nameless(argv []string) (at int, ok bool) {
	in := interpreterOf(programName(argv[0]))
	if in == nil || !in.late {
		return 0, false
	}
	for _, i := range in.texts(argv[1:], true) {
		if i += 2; i < len(argv) && strings.HasPrefix(argv[i], "{{") && !strings.Contains(argv[i-1], "$0") && !strings.Contains(argv[i-1], "${0") {
			return i, true
		}
	}
	return 0, false
}

// runner is an option by which a program runs something else.
type runner struct {
	names string
	// option matches the option; what it runs is the rest of the argument or, if there is
	// none, the next one.
	option string
	// data matches what the rest may begin with to be data.
	data string
}

// runners lists options that execute what they are given.
var runners = []runner{
	{names: "git", option: `^(-c|--config-env|--exec-path|--upload-pack|--receive-pack|--exec|-x|--extcmd|--open-files-in-pager|--config)(=|$)`,
		data: `^(user|author|committer|commit|http|color|i18n|advice|init|log|format|pretty)\.[a-zA-Z.]*=`},
	{names: "tar gtar bsdtar", option: `^(--to-command|--use-compress-program|-I|--checkpoint-action|--info-script|--new-volume-script|-F|--rsh-command|--rmt-command)(=|$)`},
	{names: "find", option: `^-(exec|execdir|ok|okdir)$`},
	{names: "fd fdfind", option: `^(-x|-X|--exec|--exec-batch)(=|$)`},
	{names: "man", option: `^(-P|--pager|-H|--html|-C|--config-file)(=|$)?`},
	{names: "zip", option: `^(-TT|--unzip-command)(=|$)`},
	{names: "java", option: `^(-XX:On[A-Za-z]*=|-agentlib:|-agentpath:|-javaagent:|-XX:Flags=|@)`},
	{names: "ssh scp sftp", option: `^-o`, data: `(?i)^(port|user|hostname|connecttimeout|serveralive[a-z]*|batchmode|loglevel|compression|stricthostkeychecking)[= ]`},
	{names: "scp sftp", option: `^-S`},
	{names: "ssh scp sftp", option: `^-F`},
	{names: "rsync", option: `^(-e|--rsh|--rsync-path)(=|$)`},
	{names: "sort", option: `^--compress-program(=|$)`},
	{names: "split", option: `^--filter(=|$)`},
	{names: "rg", option: `^(--pre|--hostname-bin)(=|$)`},
	{names: "make gmake", option: `^(--eval|-f|--file|--makefile|-C|--directory|SHELL)(=|$)`},
	{names: "curl", option: `^(-K|--config)(=|$)`},
	{names: "wget", option: `^(-e|--execute|--use-askpass|--config)(=|$)`},
	{names: "gcc g++ cc c++ clang", option: `^(-wrapper|-fplugin|-specs|-B)(=|$)`},
	{names: "tcpdump", option: `^-z`},
	{names: "less", option: `^\+`},
}

// executed returns the arguments with a template that an option makes code. Behind a
// wrapper the program is looked for among the arguments.
func executed(argv []string) []int {
	var found []int
	wrapped := slices.Contains(wrappers, programName(argv[0]))
	for i, arg := range argv {
		if i > 0 && !wrapped {
			break
		}
		name := programName(arg)
		for _, r := range runners {
			if slices.Contains(strings.Fields(r.names), name) {
				found = r.executed(argv, i+1, found)
			}
		}
		variable, _, ok := strings.Cut(arg, "=")
		if wrapped && i > 0 && ok && hasTemplate(arg) && isCodeVariable(variable) && !slices.Contains(found, i) {
			found = append(found, i)
		}
	}
	return found
}

func (r *runner) executed(argv []string, from int, found []int) []int {
	option := regexp.MustCompile(r.option)
	for i := from; i < len(argv); i++ {
		end := option.FindStringIndex(argv[i])
		if end == nil {
			continue
		}
		at, rest := i, argv[i][end[1]:]
		if rest == "" && i+1 < len(argv) {
			at, rest = i+1, argv[i+1]
		}
		if hasTemplate(rest) && !matches(r.data, rest) && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}

// takesFiles are programs of which an option writes a file or runs something, and that
// know -- as the end of their options.
var takesFiles = strings.Fields("sort rsync curl wget ssh scp sftp zip man")

// unguarded returns the arguments that such a program takes for options if their values
// begin with a -.
func unguarded(argv []string) []int {
	if !slices.Contains(takesFiles, programName(argv[0])) {
		return nil
	}
	var found []int
	for i := 1; i < len(argv) && argv[i] != "--" && argv[i] != "--end-of-options"; i++ {
		value := i > 1 && len(argv[i-1]) > 1 && argv[i-1][0] == '-' && !strings.Contains(argv[i-1], "=") // of the option before it, maybe
		if strings.HasPrefix(argv[i], "{{") && !value {
			found = append(found, i)
		}
	}
	return found
}
