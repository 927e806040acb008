package program

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// BaseVariables lists the variables that every program inherits, because most programs need them.
func BaseVariables() []string { return []string{"PATH", "HOME", "LANG", "TMPDIR"} }

// Inherit selects the environment variables of this process that a program inherits. The zero
// Inherit selects all.
type Inherit struct {
	// Private lists variables that are not inherited unless Names has them.
	Private []string
	// Listed restricts the variables to BaseVariables and Names.
	Listed bool
	Names  []string
}

// environ returns the entries of an environment that are inherited.
func (i Inherit) environ(all []string) []string {
	var out []string
	for _, entry := range all {
		name, _, _ := strings.Cut(entry, "=")
		if has(i.Names, name) || i.Listed && has(BaseVariables(), name) || !i.Listed && !has(i.Private, name) {
			out = append(out, entry)
		}
	}
	return out
}

// has reports whether a list has the name of a variable. On Windows the case is ignored.
func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)
	})
}

// Passed is the key pass_env of a configuration: the names of the variables that a program
// inherits in addition to BaseVariables. No others are inherited.
type Passed struct {
	Names []source.Text
	Given bool
}

var _ source.Unmarshaler = (*Passed)(nil)

// DecodeValue reads the list of names.
func (p *Passed) DecodeValue(v *source.Value) source.Diagnostics {
	p.Given = true
	return source.Decode(v, &p.Names)
}

// Owner describes the mapping that has the key pass_env.
type Owner struct {
	// ByModel reports whether a model calls the program. Such a program inherits only listed
	// variables, even if there is no list.
	ByModel bool
	// HasEnv reports whether the mapping also has the key env, which accepts secrets.
	HasEnv bool
}

// hint returns the hint for a program that needs the API key of a model.
func (o Owner) hint(name string) string {
	secret := "env: {" + name + ": {secret: " + name + "}}"
	if o.HasEnv {
		return "if the program needs the key, write " + secret
	}
	return "if the program needs the key, run it by a node of the kind command, which has " + secret
}

// Inherit checks the names and returns the variables that a program inherits. subject is the
// subject of messages.
func (p Passed) Inherit(subject string, env core.Env, of Owner) (Inherit, source.Diagnostics) {
	var ds source.Diagnostics
	i := Inherit{Private: env.Private, Listed: p.Given || of.ByModel}
	for _, n := range p.Names {
		_, set := os.LookupEnv(n.Value)
		switch {
		case n.Value == "" || strings.ContainsAny(n.Value, "=\x00$ "):
			ds.Errorf(source.CodeBadValue, n.Pos, "%s: pass_env: %q cannot be the name of a variable", subject, n.Value)
			continue
		case has(i.Names, n.Value):
			ds.Warnf(source.CodeDuplicate, n.Pos, "%s: pass_env: %q appears twice", subject, n.Value)
			continue
		case has(env.Private, n.Value):
			ds.Warnf(source.CodeBadValue, n.Pos, "%s: pass_env: %s holds a key of the model, and what the program shows of it is not hidden", subject, n.Value).
				WithHint("%s", of.hint(n.Value))
		case !set:
			ds.Warnf(source.CodeBadValue, n.Pos, "%s: pass_env: the environment variable %s is not set", subject, n.Value)
		}
		i.Names = append(i.Names, n.Value)
	}
	return i, ds
}

// Described describes the environment of a program for the command plan; own lists the variables
// that env sets. It returns nil if the program inherits all variables that are not private.
func (i Inherit) Described(program string, own ...string) []core.Environment {
	if !i.Listed {
		return nil
	}
	names := BaseVariables()
	for _, n := range i.Names {
		if !has(names, n) {
			names = append(names, n)
		}
	}
	return []core.Environment{{Program: program, Inherits: names, Sets: own}}
}
