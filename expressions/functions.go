package expressions

import "github.com/wavefold/wavefold/core"

// Func is a function of the language.
type Func uint8

// Functions.
const (
	FuncLength Func = iota
	FuncLower
	FuncUpper
	FuncTrim
	FuncNumber
	FuncString
	FuncAbs
	FuncRound
	FuncMin
	FuncMax
	FuncSum
)

// argument says what a function accepts.
type argument uint8

const (
	anything       argument = iota
	textArg                 // a text
	numberArg               // a number
	numberishArg            // a number or a text
	numbersArg              // a number or an array of numbers
	unboundedCount = -1
)

// functions is the table of functions, indexed by Func.
var functions = [...]struct {
	name    string
	most    int // how many arguments; unboundedCount for one or more
	accepts argument
	result  core.TypeKind
}{
	FuncLength: {"length", 1, anything, core.IntegerType},
	FuncLower:  {"lower", 1, textArg, core.StringType},
	FuncUpper:  {"upper", 1, textArg, core.StringType},
	FuncTrim:   {"trim", 1, textArg, core.StringType},
	FuncNumber: {"number", 1, numberishArg, core.NumberType},
	FuncString: {"string", 1, anything, core.StringType},
	FuncAbs:    {"abs", 1, numberArg, core.NumberType},
	FuncRound:  {"round", 1, numberArg, core.IntegerType},
	FuncMin:    {"min", unboundedCount, numbersArg, core.NumberType},
	FuncMax:    {"max", unboundedCount, numbersArg, core.NumberType},
	FuncSum:    {"sum", unboundedCount, numbersArg, core.NumberType},
}

// String returns the function's name.
func (f Func) String() string { return functions[f].name }

// funcOf returns the function of that name.
func funcOf(name string) (Func, bool) {
	for f := range functions {
		if functions[f].name == name {
			return Func(f), true
		}
	}
	return 0, false
}

// FuncNames lists the functions.
func FuncNames() []string {
	names := make([]string, len(functions))
	for f := range functions {
		names[f] = functions[f].name
	}
	return names
}
