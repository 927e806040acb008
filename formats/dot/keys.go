package dot

// place is where attributes stand, and those that are known there.
type place struct {
	name  string // as messages have it
	known []string
}

// The places, and what each knows. Those that have no effect are read and checked, or
// left alone, so that files of other engines load.
var (
	nodePlace = place{"nodes", []string{
		"label", "shape", "type", "class",
		"prompt", "model", "provider", "reasoning_effort", "max_tokens", "llm_prompt", "llm_model", "llm_provider",
		"script", "tool_command", "language", "duration", "text", "human.default_choice",
		"stack.child_workflow", "stack.child_dotfile", "stack.child_dot_source",
		"allow_partial", "auto_status", "goal_gate", "retry_policy", "max_retries", "retry_target", "fallback_retry_target",
		"timeout", "max_visits", "selection", "join_policy", "max_parallel", "error_policy", "import",
		"speed", "backend", "project_memory", "fidelity", "thread_id",
	}}
	edgePlace = place{"edges", []string{
		"condition", "label", "weight", "loop_restart", "freeform", "fidelity", "thread_id",
	}}
	graphPlace = place{"graphs", []string{
		"goal", "label", "default_max_retries", "default_max_retry", "retry_target", "fallback_retry_target", "max_node_visits", "stall_timeout",
		"loop_restart_signature_limit", "model_stylesheet", "default_fidelity", "default_thread", "rankdir",
	}}
	places = []place{nodePlace, edgePlace, graphPlace}
)

// foreignKeys are attributes by which other engines do something else than without them,
// and what stands for them here.
var foreignKeys = map[string]string{
	"prompt_file":   `write prompt="@file"`,
	"output_schema": `schema="file.json" is for nodes that ask a model; of what a script prints no label and no context is taken`,
	"stdin_source":  "stdin=json hands a script the context",
	"for_each":      "a parallel node has one branch for each of its edges",
	"on_failure":    `what follows a failure: an edge with condition="outcome=fail", retry_target, auto_status`,
	"dot_file":      childHint,
	"child_graph":   childHint,
}

const childHint = `a sub-workflow is shape=house, stack.child_workflow="child.dot"`

// graphvizShapes are shapes of Graphviz that resemble one with a meaning and are no slips of it.
var graphvizShapes = []string{"doubleoctagon", "square"}

// graphvizKeys are attributes for drawing, which are no slips of others.
var graphvizKeys = []string{
	"arrowhead", "arrowsize", "arrowtail", "bb", "bgcolor", "center", "clusterrank", "color", "colorscheme", "comment", "compound",
	"concentrate", "constraint", "decorate", "dir", "dpi", "fillcolor", "fixedsize", "fontcolor", "fontname", "fontpath", "fontsize",
	"forcelabels", "gradientangle", "group", "headlabel", "headport", "height", "href", "id", "image", "imagescale", "labelangle",
	"labeldistance", "labelfontcolor", "labelfontname", "labelfontsize", "labeljust", "labelloc", "layer", "layers", "layout", "len",
	"lhead", "ltail", "margin", "minlen", "nodesep", "nojustify", "ordering", "orientation", "outputorder", "overlap", "pad", "page",
	"pencolor", "penwidth", "peripheries", "pin", "pos", "quantum", "rank", "ranksep", "ratio", "regular", "rotate", "samehead",
	"sametail", "samplepoints", "scale", "shapefile", "sides", "size", "skew", "sortv", "splines", "style", "taillabel", "tailport",
	"target", "tooltip", "truecolor", "URL", "vertices", "viewport", "width", "xlabel", "z",
}
