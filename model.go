package wavefold

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/router"
)

// UseModel sets the model of the engine. Nodes of the kinds agent, prompt and router call it,
// and so do walks whose edges are chosen by a model, unless a run has its own router
// (WithRouter). Package llm/openai provides models of OpenAI and of all servers with a
// compatible API. Call UseModel before documents are read. A later call replaces the
// model.
func (e *Engine) UseModel(m llm.Model, options ...llm.RouterOption) {
	for _, k := range append(agent.Kinds(m), router.Kind(m)) {
		e.reg.AddKind(k)
	}
	e.model = m
	e.router = llm.NewRouter(m, options...)
}

// Model returns the model set by UseModel, or nil if there is none.
func (e *Engine) Model() llm.Model { return e.model }

// Router returns the router that chooses edges with the model set by UseModel, or nil
// if there is none.
func (e *Engine) Router() core.Router { return e.router }
