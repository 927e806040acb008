package secret

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Value is a string in a configuration that may be a secret: either the string itself, or
// {secret: NAME}, which is read from the environment variable NAME when it is needed.
type Value struct {
	// Text is the literal string, Env the name of the variable. Exactly one of them is set;
	// Text may be the empty string.
	Text source.Text
	Env  source.Text
}

var _ source.Unmarshaler = (*Value)(nil)

// DecodeValue decodes a string or a reference.
func (s *Value) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.StringValue:
		s.Text = source.At(v.Scalar.(string), v.Pos)
		return nil
	case source.ObjectValue:
		var ref struct {
			Secret source.Text `wavefold:"secret,required"`
		}
		ds := source.Decode(v, &ref)
		s.Env = ref.Secret
		return ds
	}
	ds := source.WrongType(v, "a string or {secret: NAME}")
	if v.Kind == source.IntValue || v.Kind == source.FloatValue || v.Kind == source.BoolValue {
		ds[0].WithHint("put it in quotes to make it a string")
	}
	return ds
}

// IsSecret reports whether the value is read from the environment.
func (s Value) IsSecret() bool { return s.Env.Value != "" }

// Ref returns the reference to a secret, for core.Compiled. lookup is os.LookupEnv or a
// function like it.
func (s Value) Ref(lookup func(string) (string, bool)) core.Secret {
	return core.Secret{Name: s.Env, Read: func() (string, bool) { return lookup(s.Env.Value) }}
}

// Read returns the secret. lookup is os.LookupEnv or a function like it. The error is
// permanent, since another attempt would have the same result.
func (s Value) Read(lookup func(string) (string, bool)) (string, error) {
	v, ok := lookup(s.Env.Value)
	if !ok {
		return "", core.Permanent(fmt.Errorf("the environment variable %s is not set", s.Env.Value))
	}
	return v, nil
}

// CheckSet warns about a secret whose variable is not set. subject names the node and the
// key, and hint describes what will fail.
func (s Value) CheckSet(ds *source.Diagnostics, lookup func(string) (string, bool), subject, hint string) {
	if !s.IsSecret() {
		return
	}
	if _, ok := lookup(s.Env.Value); !ok {
		ds.Warnf(source.CodeBadValue, s.Env.Pos, "%s: the environment variable %s is not set", subject, s.Env.Value).WithHint("%s", hint)
	}
}
