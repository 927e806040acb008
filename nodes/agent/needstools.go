package agent

import (
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// toolPatterns match the clauses of a prompt that need tools: a verb such as "run" or "edit"
// followed by a program, a file or a repository. Verbs that may request text, such as
// "summarize", "review" or "plan", are left out.
var toolPatterns = []*lazyregexp.Regexp{
	// Run the tests. Execute `make`.
	lazyregexp.New("(?:run|rerun|execute|invoke) (?:(?:the|all|our|your|its|every|project's|full|whole|existing|unit|integration) )*(?:`[^`\n]+`|tests?\\b|test suite|build\\b|linters?\\b|commands?\\b|scripts?\\b|programs?\\b|cargo\\b|go (?:test|build|vet)\\b|npm\\b|make\\b|pytest\\b|git\\b)"),
	// Write the report to report.md. Read src/main.go. Edit the files.
	lazyregexp.New("(?:read|open|write|create|edit|modify|update|delete|append|save|inspect|rewrite|replace)\\b[^.!?\n{}]{0,80}?(?:`?[\\w./-]*\\w\\.(?:go|py|rs|ts|tsx|js|jsx|md|txt|json|ya?ml|toml|csv|dot|sh|html|css|sql|java|rb|c|h|cpp)\\b|\\bto disk\\b|\\bin the (?:repository|repo|code ?base|working (?:tree|directory))\\b)"),
	lazyregexp.New(`(?:read|open|edit|modify|update|delete|rewrite) (?:(?:the|all|any|these|those|existing|relevant|needed|necessary|source|affected) )*files?\b`),
	// Implement the plan. Fix the failing tests. Refactor the code base.
	lazyregexp.New(`(?:implement|carry out|execute|apply) (?:(?:the|this|each|every|all|of|approved|whole|next|remaining|following) )*(?:plan|steps?|changes?|design|spec|specification|features?|tasks?|fix|fixes)\b`),
	lazyregexp.New(`(?:fix|repair) (?:(?:the|all|any|every|failing|broken|remaining|compile|compiler|test|lint) )*(?:tests?|build|errors?|failures?|code|bugs?|warnings)\b`),
	lazyregexp.New("(?:refactor|migrate|port|implement|fix|change)\\b[^.!?\n{}]{0,60}?\\b(?:code ?base|repository|repo|source (?:code|files?|tree)|working (?:tree|directory))\\b"),
	// Commit the changes. Open a pull request.
	lazyregexp.New(`(?:commit|push|stage|check out|clone) (?:(?:the|all|your|these|this) )*(?:changes?|branch|repository|repo|commits?|work|files?|result)\b`),
	lazyregexp.New(`(?:open|create|merge) (?:a|the) (?:pull request|merge request|branch)\b`),
}

// clause matches the text before a clause that gives an instruction.
var clause = lazyregexp.New(`(?:^|[.!?:;,\n)*#-]\s*|\d[.)]\s*|\b(?:then|and|please|must|should|now|also|first|next)\s+)$`)

// mention matches the text before a clause that only mentions the work, as in "how to run".
var mention = lazyregexp.New(`(?:\bnot|n't|\bnever|\bwithout|\bhow (?:to|you|we)|\bhow you would)\b[^.!?\n]*$`)

// needsTools returns the first phrase of a prompt that requests work that only a tool can do.
// It returns "" if there is none.
func needsTools(prompt string) string {
	lower := strings.ToLower(prompt)
	if len(lower) != len(prompt) { // a letter whose lower case has another length
		prompt = lower
	}
	first, found := len(prompt), ""
	for _, p := range toolPatterns {
		for _, m := range p.FindAllStringIndex(lower, -1) {
			before := lower[max(0, m[0]-80):m[0]]
			if m[0] < first && clause.MatchString(before) && !mention.MatchString(before) {
				first, found = m[0], strings.Join(strings.Fields(prompt[m[0]:m[1]]), " ")
				break
			}
		}
	}
	return found
}
