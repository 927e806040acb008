package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
)

func (a *app) waitingCommand() *cobra.Command {
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "waiting [RUN]",
		Short: "List the questions that people have to answer",
		Long: `waiting lists the questions of stored runs that nobody has answered yet, with what
they show, their choices, and the command that answers. Without RUN it lists those of
all runs. A flow asks one approval at a time: the others are listed as queued.

` + whereRuns,
		Example: examples(
			"wavefold waiting",
			"wavefold waiting 4kqz7w",
			"wavefold waiting --json | jq -r '.[] | select(.queued | not).command'",
		),
		Args:              atMost(1, "at most one run"),
		ValidArgsFunction: a.completeRuns(waits),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.questions(cmd.Context(), at, args)
			if err != nil {
				return err
			}
			if asJSON {
				return a.writeJSON(list)
			}
			a.printQuestions(list)
			return nil
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

// waits reports whether a run may have questions without an answer.
func waits(s *store.Summary) bool {
	return s.Status == store.StatusPaused || s.Status == store.StatusRunning || s.Status == store.StatusInterrupted && s.Waiting > 0
}

// questionJSON is a question of a stored run. Secrets are masked.
type questionJSON struct {
	Run      string        `json:"run"`
	Workflow string        `json:"workflow"`
	Node     string        `json:"node"`
	Visit    int           `json:"visit"`
	Attempt  int           `json:"attempt"`
	Question string        `json:"question"`
	Choices  []core.Choice `json:"choices"`
	Show     []core.Shown  `json:"show"`
	Default  string        `json:"default"`
	Asked    time.Time     `json:"asked"`
	Deadline *time.Time    `json:"deadline"`
	// Late reports whether the deadline has passed, so that no answer is accepted.
	Late bool `json:"late"`
	// Queued reports that the question is asked later: a flow asks one approval at a time. Asked is then
	// the time since when it waits.
	Queued bool `json:"queued,omitempty"`
	// Command answers the question once a choice is put in, or resumes the run if the deadline has passed. It
	// is empty if the question is queued.
	Command string `json:"command"`

	freeform bool
}

// questions returns the open questions of the run that args name, or of all runs.
func (a *app) questions(ctx context.Context, flag string, args []string) ([]questionJSON, error) {
	out := []questionJSON{}
	var runs []storedRun
	if len(args) > 0 {
		found, err := a.findRun(ctx, flag, args[0], nil)
		if err != nil {
			return nil, err
		}
		runs = []storedRun{*found}
	} else {
		all, err := a.listRuns(ctx, flag, store.Query{})
		if err != nil {
			return nil, err
		}
		runs = slices.DeleteFunc(all, func(r storedRun) bool { return !waits(&r.Summary) })
	}
	for i := range runs {
		r := &runs[i]
		st, err := inbox.Questions(ctx, r.store, r.Run)
		if err != nil {
			return nil, storedError(err)
		}
		if st.Ended {
			continue
		}
		for j := range st.Open {
			out = append(out, r.question(&st.Open[j]))
		}
		for j := range st.Queued {
			out = append(out, r.queued(&st.Queued[j]))
		}
	}
	return out, nil
}

func (r *storedRun) question(q *core.PendingQuestion) questionJSON {
	j := questionJSON{Run: r.Run, Workflow: r.Workflow, Node: q.Node, Visit: q.Visit, Attempt: q.Attempt, Question: secret.Hide(q.Text), Choices: q.Choices, Show: []core.Shown{},
		Default: q.Default, Asked: q.Asked, Command: answerCommand(r.Run, q), freeform: q.Freeform}
	if j.Choices == nil {
		j.Choices = []core.Choice{}
	}
	for _, s := range q.Show {
		s.Text, s.Missing = secret.Hide(s.Text), secret.Hide(s.Missing)
		j.Show = append(j.Show, s)
	}
	if !q.Deadline.IsZero() {
		j.Deadline = &q.Deadline
		if j.Late = time.Now().After(q.Deadline); j.Late {
			j.Command = resumeCommand(r.Run)
		}
	}
	return j
}

// queued is question for one that is asked later. No command answers it before.
func (r *storedRun) queued(q *core.PendingQuestion) questionJSON {
	j := r.question(q)
	j.Queued, j.Command = true, ""
	return j
}

// answerCommand returns the command that answers a question, with the choices in place of one: their
// labels, or their keys if the shell would need quotes.
func answerCommand(run string, q *core.PendingQuestion) string {
	keys := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		if keys[i] = c.Label; c.Label == "" || shellWord(c.Label) != c.Label {
			keys[i] = c.Key
		}
	}
	how := " --choice " + strings.Join(keys, "|")
	if len(keys) == 0 {
		how = " --text TEXT"
	}
	return "wavefold answer " + shellWord(run) + " " + shellWord(q.Node) + how
}

// resumeCommand returns the command that resumes a run.
func resumeCommand(run string) string { return "wavefold resume " + shellWord(run) }

// replayCommand returns the command that replays a run from a node.
func replayCommand(run string) string { return "wavefold replay " + shellWord(run) + " --from NODE" }

// shellWord quotes a word for a shell if it needs quotes.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether a character may have a meaning for a shell.
func special(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:@%+,", c))
}

func (a *app) printQuestions(list []questionJSON) {
	p := a.palette(a.Out)
	for i := range list {
		q := &list[i]
		if i > 0 {
			tty.Fprintf(a.Out, "\n")
		}
		tty.Fprintf(a.Out, "%s: %s\n", p.Bold(q.Workflow+", "+q.Node), q.Question)
		for _, s := range q.Show {
			switch {
			case s.Missing != "":
				tty.Fprintf(a.Out, "  %s: %s\n", s.Name, p.Dim(s.Missing))
			case strings.Contains(s.Text, "\n"):
				tty.Fprintf(a.Out, "  %s:\n", s.Name)
				for line := range strings.Lines(s.Text) {
					tty.Fprintf(a.Out, "    %s\n", strings.TrimRight(line, "\r\n"))
				}
			default:
				tty.Fprintf(a.Out, "  %s: %s\n", s.Name, s.Text)
			}
		}
		for _, c := range q.Choices {
			tty.Fprintf(a.Out, "  [%s] %s\n", c.Key, c.Label)
		}
		tty.Fprintf(a.Out, "  %s\n", askedText(q))
		if q.Command != "" {
			tty.Fprintf(a.Out, "  %s\n", q.Command)
		}
	}
	if len(list) == 0 {
		tty.Fprintf(a.Out, "no questions\n")
	}
}

// askedText says when a question was asked, and until when an answer counts.
func askedText(q *questionJSON) string {
	if q.Queued {
		return "asked after the others, waits since " + q.Asked.Local().Format(time.DateTime)
	}
	text := "asked " + q.Asked.Local().Format(time.DateTime)
	if q.Deadline != nil {
		if q.Late {
			text += ", deadline passed"
		} else {
			text += ", until"
		}
		text += " " + q.Deadline.Local().Format(time.DateTime)
		if q.Default != "" {
			text += ", then " + q.Default
		}
	}
	return text
}

// answerFlags are the flags of answer.
type answerFlags struct {
	runFlags
	choice, text, note, by string
	resume, loose          bool
}

func (a *app) answerCommand() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer RUN NODE --choice KEY",
		Short: "Answer a question of a stored run",
		Long: `answer answers a question of a stored run (see waiting). NODE is the node that asks.
KEY is the key or the label of one of its choices. The first answer counts. A run
with a process takes the answer within a second; one that is paused takes it when it
is resumed, or at once with --resume.

` + whereRuns + `

Exit codes: 1 somebody has answered already or the time is over, 2 no such question or
choice; with --resume those of run.`,
		Example: examples(
			"wavefold answer 4kqz7w gate --choice approve --note 'looks good'",
			"wavefold answer 4kqz7w gate --choice a --resume",
			"wavefold answer 4kqz7w ask --text 'Version 2'",
			"wavefold answer 4kqz7w ask --loose --text 'looks fine to me'",
		),
		Args:              exactly(2, "a run and a node"),
		ValidArgsFunction: a.completeQuestions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.choice == "" && f.text == "" && !f.loose {
				return errors.New("answer needs a choice: --choice KEY (or --text TEXT for a question without choices)")
			}
			return a.answer(cmd.Context(), args[0], args[1], &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	flags.StringVar(&f.choice, "choice", "", "the `key` or label of a choice")
	flags.StringVar(&f.text, "text", "", "an answer in words, where the question accepts one")
	flags.StringVar(&f.note, "note", "", "a remark that is kept with the answer")
	flags.StringVar(&f.by, "by", "", "the `name` of the person (default: the user)")
	flags.BoolVar(&f.loose, "loose", false, "of an approval of a flow: reject if --choice is reject or --text contains it, approve otherwise, also without either")
	flags.BoolVar(&f.resume, "resume", false, "continue the run at once if it has no process")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "with --resume, hide progress and hints of the run")
	flags.BoolVar(&f.json, "json", false, "print the answer as JSON; with --resume, the report of the run")
	_ = cmd.RegisterFlagCompletionFunc("choice", a.completeChoices)
	return cmd
}

// answerJSON is an answer that was posted.
type answerJSON struct {
	Run    string    `json:"run"`
	Node   string    `json:"node"`
	Visit  int       `json:"visit"`
	Choice string    `json:"choice"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

func (a *app) answer(ctx context.Context, run, node string, f *answerFlags) error {
	found, err := a.findRun(ctx, f.store, run, nil)
	if err != nil {
		return err
	}
	given := inbox.Answer{Node: node, Choice: f.choice, Text: f.text, Note: f.note, By: userName(f.by)}
	if f.loose {
		err = loosen(ctx, found, &given)
	}
	var posted *inbox.Answer
	if err == nil {
		posted, err = inbox.Post(ctx, found.store, found.Run, given)
	}
	if err != nil {
		return errors.Join(answerError(err), found.store.Close())
	}
	if err := found.store.Close(); err != nil {
		return &exitError{exitFailed, err}
	}
	resume := f.resume && found.Holder == nil
	switch {
	case f.json && !resume:
		return a.writeJSON(answerJSON{posted.Run, posted.Node, posted.Visit, posted.Choice, posted.By, posted.At})
	case !f.json:
		tty.Fprintf(a.Out, "%s of run %s is answered: %s\n", posted.Node, posted.Run, posted.Shown())
	}
	if resume {
		f.log = logAuto
		return a.resume(ctx, found.Run, &rerun{}, &f.runFlags)
	}
	if found.Holder == nil {
		tty.Fprintf(a.Err, "resume with: %s\n", resumeCommand(found.Run))
	}
	return nil
}

// loosen makes an answer to an approval a decision, by core.LooseDecision. Other questions have no such reading.
func loosen(ctx context.Context, r *storedRun, a *inbox.Answer) error {
	st, err := inbox.Questions(ctx, r.store, r.Run)
	if err != nil {
		return err
	}
	for _, q := range slices.Concat(st.Open, st.Queued) {
		if q.Node == a.Node && !q.Approval {
			return fail(exitUsage, "--loose is for approvals of flows, and %s is another question", a.Node)
		}
	}
	var answer any
	switch {
	case a.Choice != "":
		answer = value.ObjectOf("decision", a.Choice)
	case a.Text != "":
		answer = a.Text
	}
	a.Choice, _ = core.LooseDecision(answer)
	a.Text = ""
	return nil
}

// userName returns the name of the person who gives a command.
func userName(flag string) string {
	if flag != "" {
		return flag
	}
	return store.NewHolder().User
}

// answerError returns the error of answer, with its exit code.
func answerError(err error) error {
	_, answered := errors.AsType[*inbox.AnsweredError](err)
	_, late := errors.AsType[*inbox.LateError](err)
	switch {
	case answered || late:
		return &exitError{exitFailed, err}
	case errors.Is(err, inbox.ErrNoQuestion):
		return &exitError{exitUsage, err}
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return storedError(err)
}

// completeQuestions completes a run with questions, and then a node that asks.
func (a *app) completeQuestions(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeRuns(waits)(cmd, args, word)
	}
	var nodes []string
	for _, q := range a.questionsOf(cmd, args) {
		nodes = append(nodes, q.Node+"\t"+q.Question)
	}
	return nodes, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeChoices(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	for _, q := range a.questionsOf(cmd, args) {
		for _, c := range q.Choices {
			if len(args) > 1 && q.Node == args[1] {
				keys = append(keys, c.Key+"\t"+c.Label)
			}
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// questionsOf returns the questions of the run on an incomplete command line.
func (a *app) questionsOf(cmd *cobra.Command, args []string) []questionJSON {
	if len(args) == 0 {
		return nil
	}
	flag, _ := cmd.Flags().GetString("store")
	list, _ := a.questions(cmd.Context(), flag, args[:1])
	return list
}
