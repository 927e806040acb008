package dot

// Limits of a document.
const (
	maxBytes    = 10 << 20
	maxDepth    = 100  // of nested groups
	maxFindings = 1000 // syntax errors after which parsing stops
	// maxApplied limits the values that nodes and edges get from defaults and chained
	// edges, in addition to those written on them. Both multiply the size of a
	// document.
	maxApplied = 300_000
	// maxParts limits the number of nodes and edges. A name of two letters creates a
	// node that occupies kilobytes, including its findings.
	maxParts = 100_000
)
