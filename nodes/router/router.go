package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

const kindRouter = "router"

// Kind returns the kind "router", whose nodes call the model m. If m is nil, such nodes compile, and a
// run with one is rejected.
func Kind(m llm.Model) core.Kind {
	return core.NewKind(core.KindOf[config]{
		Name:    kindRouter,
		Doc:     "Lets a model choose one of several labels; a walk by steps continues at the node of the label.",
		Partial: true,
		Compile: func(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
			return compile(n, env, c, m)
		},
	})
}

type config struct {
	Prompt source.Text                 `wavefold:"prompt,required" doc:"what the model is told: a template, or the name of a file with one"`
	Routes source.Members[source.Text] `wavefold:"routes,required,fixed" doc:"the labels and the nodes that they lead to: {label: node}"`
	System source.Text                 `wavefold:"system" doc:"instructions that go before everything: a template, or the name of a file with one"`
	Model  source.Text                 `wavefold:"model,fixed" doc:"name of the model"`
	Effort source.Text                 `wavefold:"effort,fixed" doc:"how hard the model should think, such as low or high"`
}

func compile(n *core.Node, env core.Env, c *config, m llm.Model) (core.Compiled, source.Diagnostics) {
	find, texts := files.Finder{Env: env, Subject: n.Subject()}, templates.NewSet(n, env)
	h := &handler{llm: m, model: c.Model.Value, effort: c.Effort.Value}
	prompt := templates.PromptOf(&find, c.Prompt, "prompt")
	h.prompt = texts.Template(prompt.Text, prompt.Key)
	if c.System.Value != "" {
		system := templates.PromptOf(&find, c.System, "system")
		h.system = texts.Template(system.Text, system.Key)
	}
	made := core.Compiled{}
	ds := find.Found
	for _, r := range c.Routes {
		if label := r.Key.Value; label == "" || label != strings.TrimSpace(label) {
			ds.Errorf(source.CodeBadValue, r.Key.Pos, "%s: routes: the label %q is empty, or has white space around it", n.Subject(), label)
		}
		for _, d := range source.Fixed(r.Key) {
			ds.Errorf(d.Code, d.Pos, "%s: routes: %s", n.Subject(), d.Message)
		}
		h.labels, h.nodes = append(h.labels, r.Key.Value), append(h.nodes, r.Value.Value)
		made.Next = append(made.Next, r.Value)
	}
	into, found := setting.TargetOf(n, source.Text{}, n.Subject())
	h.write, made.Results = into.Field, into.Type(value.StringType)
	made.Reads, made.Nodes = texts.Reads, texts.Nodes
	if ds = append(append(ds, texts.Found...), found...); ds.Failed(false) {
		return made, ds
	}
	ds = append(ds, setting.UnusedArgs(n, "prompt and system are templates and may contain {{NAME}}", texts.Names...)...)
	if m == nil {
		made.NoModel = `kind "` + kindRouter + `" has no model to ask: give the engine one (Engine.UseModel)`
		return made, ds
	}
	if h.effort != "" {
		if why := llm.Lacks(m, &llm.Request{Model: h.model, Effort: h.effort}); why != "" {
			ds.Errorf(source.CodeBadValue, c.Effort.Pos, "%s: effort: %s", n.Subject(), why)
			return made, ds
		}
	}
	made.Handler, made.Models = h, true
	if name, _, ok := llm.PriceOf(m, h.model); !ok {
		made.Unpriced = []string{name}
	}
	return made, ds
}

// handler is a compiled node. It is immutable.
type handler struct {
	llm            llm.Model
	prompt, system *templates.Template // system is nil if there is none
	model, effort  string
	labels, nodes  []string // parallel
	write          string   // the field that gets the label, or "" if there is none
}

// choiceKey is the member of the answer and of the output.
const choiceKey = "choice"

// Handle asks the model for a label.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if ctx.Err() != nil {
		return core.Result{}, context.Cause(ctx)
	}
	q, err := h.request(in)
	if err != nil {
		return core.Result{}, err
	}
	res, err := llm.Complete(ctx, h.llm, q)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return core.Result{}, err
	}
	at := slices.Index(h.labels, chosen(res.Text))
	if res.Refusal != "" {
		return core.Result{}, core.Categorized(fmt.Errorf("the model declined: %s", cut(res.Refusal)), core.Deterministic)
	} else if at < 0 {
		return core.Result{}, core.Categorized(fmt.Errorf("the answer %q is none of the choices %s", cut(res.Text), strings.Join(h.labels, ", ")), core.Deterministic)
	}
	r := core.Send(value.ObjectOf(choiceKey, h.labels[at]))
	r.Routing = &core.Routing{Next: h.nodes[at]}
	if h.write != "" {
		r.Delta = map[string]any{h.write: h.labels[at]}
	}
	return r, nil
}

func (h *handler) request(in core.Input) (*llm.Request, error) {
	q := &llm.Request{Purpose: llm.PurposeRun, Node: in.Node(), Visit: in.Visit(), Turn: 1, Model: h.model, Effort: h.effort}
	if h.system != nil {
		text, err := h.system.Render(in)
		if err != nil {
			return nil, fmt.Errorf("system: %w", err)
		}
		q.Messages = append(q.Messages, llm.Message{Role: llm.System, Text: text})
	}
	text, err := h.prompt.Render(in)
	if err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	labels := make([]any, len(h.labels))
	text += "\n\n---\n\nChoose exactly one of these:\n"
	for i, label := range h.labels {
		labels[i] = label
		text += "- " + label + "\n"
	}
	text += "\nAnswer with a JSON object and nothing else: {\"" + choiceKey + "\": \"the one that you choose, as it is written above\"}"
	q.Messages = append(q.Messages, llm.Message{Role: llm.User, Text: text})
	q.Schema = &llm.Schema{Name: choiceKey, Strict: true, Schema: value.ObjectOf("type", "object",
		"properties", value.ObjectOf(choiceKey, value.ObjectOf("type", "string", "enum", labels)),
		"required", []any{choiceKey}, "additionalProperties", false)}
	return q, nil
}

// chosen returns the label of an answer: the member choice of an object, a JSON string, or the whole
// text. It does not search for a label inside a text.
func chosen(answer string) string {
	text := llm.Unfenced(answer)
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		return strings.TrimSpace(text)
	}
	if o, ok := v.(*value.Object); ok {
		v, _ = o.Get(choiceKey)
	}
	label, ok := v.(string)
	if !ok {
		return text // a label such as 1 or true
	}
	return label
}

// maxShown limits the part of an answer that an error contains, in runes.
const maxShown = 200

func cut(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
