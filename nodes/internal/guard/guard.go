// Package guard prevents data from becoming code in the commands that nodes run. It
// examines the argument list of a command as written in the document, with {{…}} in
// place of values. It finds values that an interpreter would execute and values that a
// program could mistake for options.
//
// Two rules do not depend on the program that is started. An interpreter's name, a flag
// for program text and a template in the argument after the flag are an error wherever
// they appear. A value at the beginning of an argument must not look like an option
// when the command runs. The tables cover what the rules cannot know: interpreters that
// take their program as an operand or from standard input, and programs that start
// another one.
// or from standard input, and the programs that start another one.
package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Text is an argument that is program text and contains a template.
type Text struct {
	At      int
	Program string // the interpreter
	Instead string // another way to pass a value to the program
}

// ProgramTexts returns the arguments in which data would become code.
func ProgramTexts(argv []string) []Text {
	at, of := programTexts(argv)
	var found []Text
	for k, i := range at {
		found = append(found, Text{i, of[k].name, of[k].instead})
	}
	return found
}

// Suspects returns the indexes of arguments that contain templates and that may be
// program text for an unknown program.
func Suspects(argv []string) []int { return suspects(argv) }

// Executed returns the indexes of arguments that contain templates and name something
// to execute.
func Executed(argv []string) []int { return executed(argv) }

// Nameless returns the index of a value that a shell would use as its own name, $0.
func Nameless(argv []string) (at int, ok bool) { return nameless(argv) }

// ReadsProgram returns the interpreter that executes standard input, and another way to
// pass a value to it.
func ReadsProgram(argv []string) (program, instead string, ok bool) {
	name, in, ok := readsProgram(argv)
	if !ok {
		return "", "", false
	}
	return name, in.instead, true
}

// MaybeReadsProgram returns the interpreter that executes standard input if an unknown
// program starts it, or "" if there is none.
func MaybeReadsProgram(argv []string) string { return maybeReadsProgram(argv) }

// CodeVariable reports whether an environment variable makes programs execute or load
// something.
func CodeVariable(name string) bool { return isCodeVariable(name) }

// HasTemplate reports whether a string contains a template.
func HasTemplate(s string) bool { return hasTemplate(s) }

// Argument is an argument that begins with a value, and the program that receives it.
type Argument struct {
	At      int
	Program string
}

// Exposed returns the arguments that begin with a value and that a program may mistake
// for options, because no argument before them ends the options and they are not values
// of options.
func Exposed(argv []string) []Argument {
	starts := commands(argv)
	var found []Argument
	for i := 1; i < len(argv); i++ {
		if !strings.HasPrefix(argv[i], "{{") {
			continue
		}
		start := 0
		for _, s := range starts {
			if s < i {
				start = max(start, s)
			}
		}
		if !protected(argv[start:], i-start) {
			found = append(found, Argument{i, recipient(argv[start:i])})
		}
	}
	return found
}

// noEndOfOptions lists programs that accept options after -- or do not support it.
var noEndOfOptions = []string{"find", "dd", "test", "[", "expr"}

// recipient returns the name of the program that receives the next argument of a command:
// the command's program, or the script that it executes.
func recipient(argv []string) string {
	name := programName(argv[0])
	in := interpreterOf(name)
	if in == nil || !in.script || in.operand > 0 || name == "env" || len(in.texts(argv[1:], false)) > 0 {
		return name
	}
	for i := 1; i < len(argv); i++ {
		if !in.isOption(argv[i]) {
			return path.Base(argv[i])
		}
		i += in.valuesOf(argv[i])
	}
	return name
}

// optionsWithValue lists options whose value is the next argument, whatever it begins with.
var optionsWithValue = []struct{ names, option string }{
	{"grep egrep fgrep zgrep", `^-[abcghilnoqrsuvwxyzEFGHILPTUVZ]*[efmABC]$|^--(regexp|file|max-count|after-context|before-context|context|include|exclude|exclude-dir)$`},
	{"rg", `^-[efmABCgtTr]$|^--(regexp|file|max-count|after-context|before-context|context|glob|type|replace)$`},
	{"sort", `^-[bdfgiMhnRrVcCmsuz]*[ktST]$|^--(key|field-separator|buffer-size|temporary-directory)$`},
	{"head tail", `^-[nc]$|^--(lines|bytes)$`},
	{"cut", `^-[dfbc]$|^--(delimiter|fields|bytes|characters)$`},
	{"date", `^-d$|^--date$`},
	{"mail mailx", `^-s$`},
}

// isValue reports whether an argument of a command is the value of an option.
func isValue(argv []string, at int) bool {
	name := programName(argv[0])
	values := func(string) int { return 0 }
	if in := interpreterOf(name); in != nil {
		values = in.valuesOf
	}
	for _, v := range optionsWithValue {
		if slices.Contains(strings.Fields(v.names), name) {
			option := regexp.MustCompile(v.option)
			values = func(arg string) int { return len(option.FindAllString(arg, 1)) }
		}
	}
	for i := 1; i < at; i++ {
		n := values(argv[i])
		if at <= i+n {
			return true
		}
		i += n
	}
	return false
}

// protected reports whether an argument of a command is never treated as an option.
func protected(argv []string, at int) bool {
	name := programName(argv[0])
	if in := interpreterOf(name); in != nil && (in.textIsOperand || name == "python") {
		if texts := in.texts(argv[1:], false); len(texts) > 0 && texts[0]+1 < at {
			return true // an argument of the program text, not of the interpreter
		}
	}
	if name == "printf" && at > 1 && !strings.HasPrefix(argv[1], "{{") {
		return true
	}
	if isValue(argv, at) {
		return true
	}
	before := argv[1:at]
	return !slices.Contains(noEndOfOptions, name) && (slices.Contains(before, "--") || slices.Contains(before, "--end-of-options"))
}

var (
	number     = lazyregexp.New(`^-([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	echoOption = lazyregexp.New(`^-([neE]+|-help|-version)$`)
)

// IsOption reports whether the program with this name treats a value as an option. A
// lone "-", a "-" before white space and negative numbers are data.
func IsOption(program, value string) bool {
	if program == "echo" {
		return echoOption.MatchString(value)
	}
	return len(value) > 1 && value[0] == '-' && !strings.ContainsRune(" \t\r\n", rune(value[1])) && !number.MatchString(value)
}

// ProgramName returns the name of a program without its folder and version.
func ProgramName(arg string) string { return programName(arg) }
