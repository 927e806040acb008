package llm

import (
	"context"

	"github.com/wavefold/wavefold/core"
)

// Model completes conversations. It is safe for concurrent use. Complete returns soon
// after ctx is done. Whoever wants a call accounted for and bounded by the budget of its
// run calls Complete of this package, which calls the model's.
//
// An error means that there is no answer. Its category (core.CategoryOf) says whether
// asking again may help; StatusError carries the status of an HTTP answer.
type Model interface {
	Complete(ctx context.Context, r *Request) (*Response, error)
}

// Func makes a function a Model that can do everything a Request may ask for.
type Func func(ctx context.Context, r *Request) (*Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, r *Request) (*Response, error) { return f(ctx, r) }

// Capable is implemented by models that cannot do everything. Nodes that need what a
// model lacks are refused when they are compiled; a Provider that the model cannot choose is
// a warning.
type Capable interface {
	Model
	// Lacks returns what the model cannot do of that Request, which has no messages yet, as
	// a description for people; "" when it can do all of it.
	Lacks(r *Request) string
}

// Role says who speaks.
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
	// Calls are the tools that an Assistant message asks for.
	Calls []ToolCall
	// Call is the id of the ToolCall whose result a ToolRole message is, and Failed tells
	// that the tool failed.
	Call   string
	Failed bool
}

// ToolCall asks for a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON, as the model wrote it: it need not be valid
}

// Tool is something that a model may ask for.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, nil for an object of anything.
	Parameters *core.Object
}

// Request is what a model is asked. It must not be changed while the call is under way.
type Request struct {
	// Purpose is why the model is called, for events and scripts: PurposeRun,
	// PurposeRoute, PurposeJudge or another word. Node and Visit say for which node of a
	// workflow. A backend need not look at them.
	Purpose string
	Node    string
	Visit   int
	Turn    int // of the conversation, from 1

	Model string // "" for the backend's default
	// Provider names the company or server that runs Model, "" if the document does not say.
	Provider string
	Messages []Message
	Tools    []Tool
	// Hosted are tools that run where the model runs, such as WebSearch.
	Hosted []string
	// Schema, when not nil, is what the answer must look like.
	Schema *Schema
	// Effort is how hard the model should think: "" for its default, "low", "medium",
	// "high" or another word the backend knows.
	Effort string
	// MaxTokens bounds the answer; 0 leaves it to the backend. Temperature is nil for the default.
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
	Schema *core.Object
	// Strict asks the backend to hold the answer to it, where it can.
	Strict bool
}

// Response is what a model answered.
type Response struct {
	Text  string
	Calls []ToolCall
	// Model is the one that answered, as the backend names it.
	Model string
	// Finish is why the model stopped, as one of the Finish constants or in the backend's
	// own word.
	Finish string
	// Refusal is the text with which the model declined to answer, "" if it did not.
	Refusal string
	Usage   core.Usage
}

// Reasons to stop.
const (
	FinishStop   = "stop"
	FinishTools  = "tool_calls"
	FinishLength = "length" // MaxTokens, or what the model can hold
	FinishFilter = "content_filter"
)
