package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// codeVariable matches the names of variables that make programs execute or load
// something.
var codeVariable = lazyregexp.New(`^(BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|ENV|PS4|PROMPT_COMMAND|IFS|PATH|SHELL|ZDOTDIR` +
	`|LD_.*|DYLD_.*|GCONV_PATH|PYTHON(STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS)|NODE_(OPTIONS|PATH|REPL_EXTERNAL_MODULE)` +
	`|PERL(5OPT|5LIB|LIB|5DB)|RUBY(OPT|LIB)|LUA_(INIT|PATH|CPATH)(_.*)?|(JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|CLASSPATH|PHPRC|PHP_INI_SCAN_DIR` +
	`|R_(PROFILE|ENVIRON)(_USER)?|R_LIBS.*|JULIA_.*|(MAN|GIT_|PSQL_|SYSTEMD_)?PAGER|LESS(OPEN|CLOSE)?|EDITOR|VISUAL|PSQL_EDITOR|PSQLRC|BROWSER` +
	`|VIMINIT|EXINIT|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|MAKEFLAGS|GNUMAKEFLAGS|AWKPATH|AWKLIBPATH|OPENSSL_CONF|OPENSSL_MODULES|GIT_.*)$`)

// dataVariable matches names that codeVariable matches but that hold data.
var dataVariable = lazyregexp.New(`^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|TERMINAL_PROMPT|TRACE.*|MERGE_AUTOEDIT)$`)

func isCodeVariable(name string) bool {
	return codeVariable.MatchString(name) && !dataVariable.MatchString(name)
}

// nameless returns the argument after the program text of sh -c if it contains a
// template. The shell uses this argument as its own name, $0, unless the program text
// reads $0.
func nameless(argv []string) (at int, ok bool) {
	in := interpreterOf(programName(argv[0]))
	if in == nil || !in.textIsOperand {
		return 0, false
	}
	for _, i := range in.texts(argv[1:], true) {
		if i += 2; i < len(argv) && strings.HasPrefix(argv[i], "{{") && !strings.Contains(argv[i-1], "$0") && !strings.Contains(argv[i-1], "${0") {
			return i, true
		}
	}
	return 0, false
}

// runner describes an option of a program that executes something.
type runner struct {
	names string
	// option matches the option. What it executes is the rest of the argument or, if
	// data matches rests that are data and are not executed.
	option string
	// data matches what the rest may begin with to be data.
	data string
}

// runners lists options that execute their values.
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
	{names: "m4", option: `^(-D|--define=?)`},
	{names: "less", option: `^\+`},
}

// executed returns the arguments that contain templates and that are executed by an
// option, that name a program, or that set a variable which makes programs execute
// something.
func executed(argv []string) []int {
	var found []int
	starts := commands(argv)
	for _, i := range starts {
		name := programName(argv[i])
		if i > 0 && hasTemplate(argv[i]) {
			found = append(found, i)
		}
		for _, r := range runners {
			if slices.Contains(strings.Fields(r.names), name) {
				found = r.executed(argv, i+1, found)
			}
		}
	}
	for i := 1; wrapperOf(programName(argv[0])) != nil && i < len(argv); i++ {
		variable, _, ok := strings.Cut(argv[i], "=")
		if ok && hasTemplate(argv[i]) && isCodeVariable(variable) && !slices.Contains(found, i) {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
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
