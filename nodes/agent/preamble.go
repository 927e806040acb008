package agent

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// preambleConfig is a section before the prompt: a title, the strings of an input of the run,
// and a text. In a document it is a mapping, or a string, which is the text.
type preambleConfig struct {
	Title source.Text `wavefold:"title" doc:"its heading"`
	Input source.Text `wavefold:"input,fixed" doc:"the input of the run with a string or a list of strings, which come first"`
	Text  source.Text `wavefold:"text" doc:"what comes then"`
}

type preamblePlain preambleConfig

// DecodeValue reads a string or a mapping.
func (p *preambleConfig) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.StringValue:
		p.Text = source.At(v.Scalar.(string), v.Pos)
		return nil
	case source.ObjectValue:
		return source.Decode(v, (*preamblePlain)(p))
	}
	return source.WrongType(v, "a string, or a mapping with title, input and text")
}

// section returns the text of the section. It returns "" if there is nothing below the title.
func (p *preambleConfig) section(known *value.Object) string {
	texts := p.given(known)
	if !isBlank(p.Text.Value) {
		texts = append(texts, p.Text.Value)
	}
	if len(texts) == 0 {
		return ""
	}
	if p.Title.Value != "" {
		texts = append([]string{p.Title.Value}, texts...)
	}
	return strings.Join(texts, "\n\n")
}

// given returns the strings of the input. Values that are not strings are left out.
func (p *preambleConfig) given(known *value.Object) []string {
	if p.Input.Value == "" {
		return nil
	}
	v, _ := known.Get(core.InputsKey)
	inputs, _ := v.(*value.Object)
	v, _ = inputs.Get(p.Input.Value)
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, e := range list {
		if s, ok := e.(string); ok && !isBlank(s) {
			texts = append(texts, strings.TrimSpace(s))
		}
	}
	return texts
}
