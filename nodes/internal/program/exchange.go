package program

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Reserved lists the member names that the document reserves. The program does not see an
// argument with such a name.
func Reserved() []string {
	return []string{"_state", "_edge_inputs", "$item", "$index", "$iter", "$loop"}
}

// CheckArgs warns of arguments with reserved names.
func CheckArgs(n *core.Node, subject string) source.Diagnostics {
	var ds source.Diagnostics
	if n.Args == nil {
		return nil
	}
	for _, k := range n.Args.Keys {
		for _, r := range Reserved() {
			if k.Value == r {
				ds.Warnf(source.CodeIgnored, k.Pos, "%s: args: the name %q is reserved, the argument is not passed on", subject, r)
			}
		}
	}
	return ds
}

// Document returns the JSON document of one attempt. Values are encoded without being copied.
func Document(in core.Input) ([]byte, error) {
	s := in.Shared()
	doc := s.Args.Copy(6)
	doc.Set("_state", s.View.Object())
	edges := s.Edges
	if edges == nil {
		edges = &value.Object{}
	}
	doc.Set("_edge_inputs", edges)
	set := func(ok bool, key string, v any) {
		if ok {
			doc.Set(key, v)
			return
		}
		doc.Delete(key)
	}
	index, isItem := s.Index.Get()
	set(isItem, "$item", s.Item)
	set(isItem, "$index", int64(index))
	set(in.Loop() != "", "$iter", int64(in.Round()))
	set(in.Loop() != "", "$loop", in.Loop())
	data, err := value.AppendJSON(nil, doc)
	if err != nil {
		return nil, fmt.Errorf("the input has no JSON form: %w", err)
	}
	return append(data, '\n'), nil
}

// Environment returns the environment variables that identify the work of a program.
func Environment(in core.Input) []string {
	return []string{
		"WAVEFOLD_RUN=" + in.Run(),
		"WAVEFOLD_NODE=" + in.Node(),
		"WAVEFOLD_ATTEMPT=" + strconv.Itoa(in.Attempt()),
		Mark(in),
	}
}

// Mark returns the entry of Environment that is unique among concurrent work.
func Mark(in core.Input) string { return "WAVEFOLD_IDEMPOTENCY_KEY=" + in.IdempotencyKey() }

// ParseResult parses the output of a program. An empty output is a success that writes and sends
// nothing. Metrics are logged.
func ParseResult(stdout []byte, log *slog.Logger) (core.Result, error) {
	if len(bytes.TrimSpace(stdout)) == 0 {
		return core.Result{}, nil
	}
	v, err := value.ParseJSON(stdout)
	if err != nil {
		return core.Result{}, fmt.Errorf("the result is not JSON: %w (standard output is for the result alone, log on standard error); printed: %s", err, Excerpt(stdout))
	}
	doc, ok := v.(*value.Object)
	if !ok {
		return core.Result{}, fmt.Errorf("the result must be a JSON object, got %s; printed: %s", value.TypeName(v), Excerpt(stdout))
	}
	var r core.Result
	for key, v := range doc.All() {
		switch key {
		case "state_delta":
			if r.Delta, err = delta(v); err != nil {
				return core.Result{}, err
			}
		case "edge_output":
			r.EdgeOutput, r.HasEdgeOutput = v, true
		case "metrics":
			log.Info("metrics", "metrics", value.JSON(v))
		default:
			return core.Result{}, unknownKey(key, stdout)
		}
	}
	return r, nil
}

// delta returns the writes; null means none.
func delta(v any) (map[string]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *value.Object:
		m := make(map[string]any, v.Len())
		for k, e := range v.All() {
			m[k] = e
		}
		return m, nil
	}
	return nil, fmt.Errorf("state_delta must be an object of fields, got %s", value.TypeName(v))
}

func unknownKey(key string, stdout []byte) error {
	known := []string{"state_delta", "edge_output", "metrics"}
	hint := source.DidYouMean(key, known)
	if hint == "" {
		hint = "fields of the state belong into state_delta"
	}
	return errors.New(`the result has an unknown key "` + key + `", known are ` + strings.Join(known, ", ") + " (" + hint + "); printed: " + Excerpt(stdout))
}

const maxPrinted = 200

// Excerpt quotes the beginning of an output for a message.
func Excerpt(stdout []byte) string {
	s := strings.TrimSpace(string(stdout))
	if len(s) > maxPrinted {
		return strconv.Quote(strings.ToValidUTF8(s[:maxPrinted], "")) + fmt.Sprintf("... (%d bytes)", len(stdout))
	}
	return strconv.Quote(s)
}
