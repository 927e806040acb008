package expressions

import "github.com/wavefold/wavefold/core/value"

// Statuses of nodes, as $nodes.ID.status and outcome name them. A test compares them with
// package core.
const (
	statusSuccess        = "success"
	statusPartialSuccess = "partial_success"
	statusFail           = "fail"
	statusSkipped        = "skipped"
)

// statusNames lists the statuses that a resolved node may have.
var statusNames = []string{statusSuccess, statusPartialSuccess, statusFail, statusSkipped}

// statusType is the type of $nodes.ID.status.
var statusType = &value.Type{Kind: value.StringType, Enum: []any{statusSuccess, statusPartialSuccess, statusFail, statusSkipped}}
