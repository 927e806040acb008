package program

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Basics lists the variables that every program gets: without them few programs run.
func Basics() []string { return []string{"PATH", "HOME", "LANG", "TMPDIR"} }

// Inherit says what of the environment of this process a program gets. The zero Inherit is
// all of it.
type Inherit struct {
	// Private are not passed on, unless Names has them.
	Private []string
	// Listed passes on nothing but Basics and Names.
	Listed bool
	Names  []string
}

// environ returns the entries of an environment that are passed on.
func (i Inherit) environ(all []string) []string {
	var out []string
	for _, entry := range all {
		name, _, _ := strings.Cut(entry, "=")
		if has(i.Names, name) || i.Listed && has(Basics(), name) || !i.Listed && !has(i.Private, name) {
			out = append(out, entry)
		}
	}
	return out
}

// has reports whether a variable is among others. Windows does not tell letters by case.
func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)
	})
}

// Passed is the key pass_env of a configuration: the names of the variables that a program
// gets beside Basics, in place of all others.
type Passed struct {
	Names []source.Text
	Given bool
}

var _ source.Unmarshaler = (*Passed)(nil)

// DecodeValue reads the list.
func (p *Passed) DecodeValue(v *source.Value) source.Diagnostics {
	p.Given = true
	return source.Decode(v, &p.Names)
}

// Owner describes where a list of variables is written.
type Owner struct {
	// ByModel says that a model calls the program, which gets what is listed, also without
	// a list.
	ByModel bool
	// HasEnv says that env, which takes secrets, is a key of the same mapping.
	HasEnv bool
}

// hint returns what to write for a program that needs the key of a model.
func (o Owner) hint(name string) string {
	secret := "env: {" + name + ": {secret: " + name + "}}"
	if o.HasEnv {
		return "if the program needs the key, write " + secret
	}
	return "if the program needs the key, run it by a node of the kind command, which has " + secret
}

// Inherit checks the names and says what a program of a node gets. subject names the node
// and the key in messages.
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

// Described is what a program gets, for plan; own are the variables that env sets. It is nil
// for a program that inherits what is not private.
func (i Inherit) Described(program string, own ...string) []core.Environment {
	if !i.Listed {
		return nil
	}
	names := Basics()
	for _, n := range i.Names {
		if !has(names, n) {
			names = append(names, n)
		}
	}
	return []core.Environment{{Program: program, Inherits: names, Sets: own}}
}
