package agent

import "testing"

func TestNeedsTools(t *testing.T) {
	for _, tt := range []struct{ prompt, want string }{
		{"Run the tests and fix what fails.", "Run the tests"},
		{"Look at the log. Then run `make test`.", "run `make test`"},
		{"Implement every step.", "Implement every step"},
		{"You are a careful engineer.\n\n1. Read SPEC.md\n2. Fix the failing tests\n", "Read SPEC.md"},
		{"Write the report to report.md", "Write the report to report.md"},
		{"- edit the files that need it", "edit the files"},
		{"Please commit the changes.", "commit the changes"},
		{"Refactor the parser in this repository.", "Refactor the parser in this repository"},
		{"Open a pull request with a short title.", "Open a pull request"},
		{"Think first; then carry out the plan.", "carry out the plan"},
		{"İ: run the tests", "run the tests"},

		{"work on $goal", ""},
		{"Say hello.", ""},
		{"Summarize the file: {{$.file}}", ""},
		{"Write a plan to fix the failing tests.", ""},
		{"Do not run the tests.", ""},
		{"Review the change without editing, and never commit the changes.", ""},
		{"Explain how to build the project and run the tests.", ""},
		{"The tests failed. What is the most likely cause?", ""},
		{"Read the following text and list its claims: {{$.text}}", ""},
		{"Write three titles. Create a list of names. Update the summary.", ""},
		{"Who will run the tests?", ""},
		{"", ""},
	} {
		if got := needsTools(tt.prompt); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.prompt, got, tt.want)
		}
	}
}
