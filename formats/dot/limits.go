package dot

// Limits of a document.
const (
	maxBytes    = 10 << 20
	maxDepth    = 100  // of groups in groups
	maxFindings = 1000 // after so many errors of syntax nobody reads on
	// maxApplied bounds what defaults and chained edges multiply: values that are
	// given to nodes and edges beside those that are written at them.
	maxApplied = 300_000
	// maxParts bounds nodes and edges: a name of two letters makes a node of some
	// kilobytes, with what is said of it.
	maxParts = 100_000
)
