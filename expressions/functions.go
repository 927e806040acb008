package expressions

import "github.com/wavefold/wavefold/core/value"

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
	FuncSubstr
	FuncSplit
	FuncReplace
	FuncConcat
	FuncCoalesce
)

// argument is the set of types that a function accepts for one argument.
type argument uint8

const (
	anything          argument = iota
	stringArg                  // a string
	numberArg                  // a number
	numberOrStringArg          // a number or a string
	numbersArg                 // a number or an array of numbers
	unboundedCount    = -1
)

// functions is the table of functions, indexed by Func.
var functions = [...]struct {
	name             string
	minArgs, maxArgs int // the permitted number of arguments; maxArgs is unboundedCount if there is no maximum
	// accepts lists the types of the arguments in order. The last entry applies to all
	// further arguments.
	accepts []argument
	result  value.TypeKind
}{
	FuncLength:   {"length", 1, 1, []argument{anything}, value.IntegerType},
	FuncLower:    {"lower", 1, 1, []argument{stringArg}, value.StringType},
	FuncUpper:    {"upper", 1, 1, []argument{stringArg}, value.StringType},
	FuncTrim:     {"trim", 1, 1, []argument{stringArg}, value.StringType},
	FuncNumber:   {"number", 1, 1, []argument{numberOrStringArg}, value.NumberType},
	FuncString:   {"string", 1, 1, []argument{anything}, value.StringType},
	FuncAbs:      {"abs", 1, 1, []argument{numberArg}, value.NumberType},
	FuncRound:    {"round", 1, 1, []argument{numberArg}, value.IntegerType},
	FuncMin:      {"min", 1, unboundedCount, []argument{numbersArg}, value.NumberType},
	FuncMax:      {"max", 1, unboundedCount, []argument{numbersArg}, value.NumberType},
	FuncSum:      {"sum", 1, unboundedCount, []argument{numbersArg}, value.NumberType},
	FuncSubstr:   {"substr", 2, 3, []argument{stringArg, numberArg}, value.StringType},
	FuncSplit:    {"split", 3, 3, []argument{stringArg, stringArg, numberArg}, value.StringType},
	FuncReplace:  {"replace", 3, 3, []argument{stringArg}, value.StringType},
	FuncConcat:   {"concat", 1, unboundedCount, []argument{anything}, value.StringType},
	FuncCoalesce: {"coalesce", 1, unboundedCount, []argument{anything}, value.AnyType},
}

// accepts returns the types that argument i of a function may have.
func (f Func) accepts(i int) argument {
	list := functions[f].accepts
	return list[min(i, len(list)-1)]
}

// String returns the function's name.
func (f Func) String() string { return functions[f].name }

// funcOf returns the function with the given name.
func funcOf(name string) (Func, bool) {
	for f := range functions {
		if functions[f].name == name {
			return Func(f), true
		}
	}
	return 0, false
}

// FuncNames returns the names of the functions.
func FuncNames() []string {
	names := make([]string, len(functions))
	for f := range functions {
		names[f] = functions[f].name
	}
	return names
}
