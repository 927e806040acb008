package llm

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Model completes conversations. It is safe for concurrent use. Complete returns soon after
// ctx is done. Callers whose calls count towards the budget of a run use the function
// Complete of this package, which calls this method.
//
// An error means that there is no answer. Its category (core.CategoryOf) says whether
// another attempt may help; StatusError carries the status of an HTTP response.
type Model interface {
	Complete(ctx context.Context, r *Request) (*Response, error)
}

// Func adapts a function to a Model that supports everything that a Request may contain.
type Func func(ctx context.Context, r *Request) (*Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, r *Request) (*Response, error) { return f(ctx, r) }

// Capable is implemented by models that do not support every feature of a Request. A node
// that needs an unsupported feature is an error when its workflow is compiled; a Provider
// that the model cannot select is a warning.
type Capable interface {
	Model
	// Lacks describes, for people, the features of the request that the model does not
	// support, "" if it supports all of them. The request has no messages yet.
	Lacks(r *Request) string
}

// Role is the author of a message.
type Role string

// Roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of a tool call
)

// Message is one turn of a conversation.
type Message struct {
	Role Role
	Text string
	// Calls are the tool calls that an Assistant message requests.
	Calls []ToolCall
	// Call is the id of the ToolCall whose result this ToolRole message holds. Failed
	// reports whether the tool failed.
	Call   string
	Failed bool
}

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it; may be invalid
}

// Tool is a tool that a model may call.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, nil for an object with any members.
	Parameters *value.Object
}

// Request is one call of a model. It must not be modified while the call is in progress.
type Request struct {
	// Purpose is the reason for the call, for events and scripts: PurposeRun, PurposeRoute,
	// PurposeJudge or another word. Node and Visit identify the node of the workflow that
	// the call is made for. Backends may ignore all three.
	Purpose string
	Node    string
	Visit   int
	Turn    int // turn of the conversation, from 1

	Model string // "" for the backend's default
	// Provider names the company or server that hosts Model, "" if the document does not
	// say.
	Provider string
	Messages []Message
	Tools    []Tool
	// Hosted names tools that run on the server of the model, such as WebSearch.
	Hosted []string
	// Schema is the required form of the answer, or nil if there is none.
	Schema *Schema
	// Effort is the reasoning effort: "" for the default of the model, "low", "medium",
	// "high" or another word that the backend knows.
	Effort string
	// MaxTokens limits the length of the answer; 0 leaves the limit to the backend.
	// Temperature is nil for the default.
	MaxTokens   int
	Temperature *float64
}

// Purposes.
const (
	PurposeRun   = "run"
	PurposeRoute = "route"
	PurposeJudge = "judge"
)

// WebSearch is the hosted tool that searches the web.
const WebSearch = "web_search"

// Schema is the form of a structured answer.
type Schema struct {
	Name   string // letters, digits, _ and -
	Schema *value.Object
	// Strict asks the backend to enforce the schema, if it can.
	Strict bool
}

// Response is the answer of a model.
type Response struct {
	Text  string
	Calls []ToolCall
	// Model is the model that answered, as the backend names it.
	Model string
	// Finish is the reason why the model stopped: one of the Finish constants or the
	// backend's own word.
	Finish string
	// Refusal is the message with which the model declined to answer, "" if it did not.
	Refusal string
	Usage   core.Usage
}

// Reasons why a model stopped.
const (
	FinishStop   = "stop"
	FinishTools  = "tool_calls"
	FinishLength = "length" // MaxTokens or the context length was reached
	FinishFilter = "content_filter"
)
