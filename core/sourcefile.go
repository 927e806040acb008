package core

// SourceFile is a file that a workflow was compiled from: a document, or a file whose content
// belongs to it, such as a prompt or a script.
type SourceFile struct {
	// Path is relative to the folder of the main document, with slashes. It is absolute if the
	// file is not below that folder.
	Path string
	Kind SourceKind
	// SHA256 is the hash of Data, in hexadecimal.
	SHA256 string
	Data   []byte
	// Parsed is the workflow that was read from a large document, in a form that only programs with the same
	// types of a workflow can decode, and ParsedKey the name of that form. They are empty for other files, and
	// never needed.
	Parsed    []byte
	ParsedKey string
}

// SourceKind is what a SourceFile is used for.
type SourceKind string

// Kinds of source files.
const (
	SourceWorkflow SourceKind = "workflow" // a document; the main document is the first one
	SourceText     SourceKind = "file"     // any other file, such as a prompt
	SourceProgram  SourceKind = "program"  // a file that can be executed
)
