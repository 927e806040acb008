package wavefold

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/agent"
)

// UseModel makes m the model of the engine: nodes of the kinds agent and prompt ask it, and
// so do walks whose edges a model picks, unless a run has a router of its own (WithRouter).
// Package llm/openai has models of OpenAI and of all servers that speak its protocol. Call
// it before documents are read; a later call replaces the model.
func (e *Engine) UseModel(m llm.Model, options ...llm.RouterOption) {
	for _, k := range agent.Kinds(m) {
		e.reg.AddKind(k)
	}
	e.model = m
	e.router = llm.NewRouter(m, options...)
}

// Model returns the model of UseModel, nil without one.
func (e *Engine) Model() llm.Model { return e.model }

// Router returns what picks the edges of walks for the model of UseModel, nil without one.
func (e *Engine) Router() core.Router { return e.router }
