// Package incremental lets a workflow continue where its last run ended. A cursor, such
// as the latest date that was loaded, is passed from run to run. Partitions, such as
// the days of a month, are processed once each. The progress is stored in a small JSON
// file next to the workflow.
//
// A cursor is saved only after a successful run in which no node failed. Failures that
// were handled or tolerated count as well, because the data of the failed nodes would
// otherwise be skipped for good. A partition is done if its item of the fan-out
// succeeded, no node inside the item failed, and no node outside the fan-out failed;
// the other items do not matter. A run that failed or was cancelled halfway is thus
// repeated only for the remaining partitions.
package incremental

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Options configure a session.
type Options struct {
	// File is the path of the progress file. If it is empty, the path in the workflow
	// is used; if that is empty too, the name of the workflow with the extension
	// .progress.json, in the folder of the workflow.
	File string
	// Since replaces the saved cursor unless it is value.Missing or nil.
	Since any
	// FullRefresh ignores the progress: the input of the cursor has its default, and
	// all partitions are processed.
	FullRefresh bool
	// RetryFailed skips partitions that have never been tried.
	RetryFailed bool
	// Strict treats a run or item with partial success, for example one with rejected
	// rows, as failed.
	Strict bool
}

// Session is one run of a workflow and the progress it makes. Begin creates it and End
// saves its progress.
type Session struct {
	// Inputs are the inputs for the run.
	Inputs map[string]any
	// Cursor is the value of the cursor before the run, or value.Missing if there is none.
	// Partitions is the number of partitions to process, and Done the number that earlier runs have
	// processed.
	Cursor     any
	Partitions int
	Done       int

	// KeptReason and UndoneReason are set by End. KeptReason is why the cursor was not
	// advanced, such as "node save failed". UndoneReason is why partitions whose items
	// succeeded are not done. They are empty if there is no such reason.
	KeptReason, UndoneReason string

	// From is the cursor in the progress file when the run began, in JSON; nil if there was none. End
	// advances the cursor only if the file still has it.
	From json.RawMessage

	p      *plan.Plan
	path   string
	strict bool
	file   file
	list   []any // the partitions of this run

	mu           sync.Mutex
	outcome      map[int]bool // by item: whether it succeeded
	failedNested []string     // the paths of failed nodes of nested workflows
}

// file is the content of the progress file.
type file struct {
	Version    int             `json:"version"`
	Workflow   string          `json:"workflow"`
	Cursor     json.RawMessage `json:"cursor,omitempty"`
	Partitions *partitionsFile `json:"partitions,omitempty"`
}

type partitionsFile struct {
	Done   []json.RawMessage `json:"done"`
	Failed []json.RawMessage `json:"failed"`
}

const fileVersion = 1

// ErrNothing reports that a workflow has no incremental section.
var ErrNothing = errors.New("the workflow has no incremental section, so there is nothing to continue from")

// Begin reads the saved progress and returns a session with the inputs for the next
// run. The given inputs take precedence over saved values.
func Begin(p *plan.Plan, given map[string]any, o Options) (*Session, error) {
	if p.Incremental == nil {
		return nil, ErrNothing
	}
	s := &Session{Inputs: maps.Clone(given), Cursor: value.Missing, p: p, path: pathOf(p, o.File), strict: o.Strict, outcome: map[int]bool{}}
	if s.Inputs == nil {
		s.Inputs = map[string]any{}
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	s.From = s.file.Cursor
	if err := s.cursor(o); err != nil {
		return nil, err
	}
	return s, s.partitions(o)
}

// Resume returns the session of a resumed run. inputs are the inputs of the run, and from is the From of
// its first session. Options.Since, FullRefresh and RetryFailed have no effect. The caller must also
// pass the events of the earlier processes to Listen.
func Resume(p *plan.Plan, inputs *value.Object, from json.RawMessage, o Options) (*Session, error) {
	if p.Incremental == nil {
		return nil, ErrNothing
	}
	s := &Session{Inputs: map[string]any{}, Cursor: value.Missing, From: from, p: p, path: pathOf(p, o.File), strict: o.Strict, outcome: map[int]bool{}}
	for name, v := range inputs.All() {
		s.Inputs[name] = v
	}
	if v, ok := s.Inputs[p.Incremental.Cursor]; ok {
		s.Cursor = v
	}
	if v, ok := s.Inputs[p.Incremental.Partitions]; ok {
		c, err := value.Canonical(v)
		if err != nil {
			return nil, err
		}
		s.list, _ = c.([]any)
		s.Partitions = len(s.list)
	}
	return s, s.read()
}

// pathOf returns the path of the progress file.
func pathOf(p *plan.Plan, name string) string {
	if name != "" {
		return name
	}
	name = p.Incremental.File
	if name == "" {
		name = p.Name + ".progress.json"
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Workflow.Dir, name)
}

// Path returns the path of the progress file.
func (s *Session) Path() string { return s.path }

// read reads the progress file. A damaged file is an error, because starting again
// would load everything a second time.
func (s *Session) read() error {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	err = d.Decode(&s.file)
	switch {
	case err != nil:
		return fmt.Errorf("%s is damaged: %w; remove it to start again", s.path, err)
	case s.file.Version != fileVersion:
		return fmt.Errorf("%s has version %d, this program writes version %d", s.path, s.file.Version, fileVersion)
	case s.file.Workflow != s.p.Name:
		return fmt.Errorf("%s belongs to workflow %q, not to %q", s.path, s.file.Workflow, s.p.Name)
	}
	if p := s.file.Partitions; p != nil {
		return errors.Join(s.plain(p.Done), s.plain(p.Failed))
	}
	return nil
}

// plain formats values in the form in which they are compared, because the file may contain other
// white space.
func (s *Session) plain(list []json.RawMessage) error {
	for i := range list {
		v, err := value.ParseJSON(list[i])
		if err != nil {
			return fmt.Errorf("%s is damaged: %w", s.path, err)
		}
		list[i] = json.RawMessage(value.JSON(v))
	}
	return nil
}

func (s *Session) cursor(o Options) error {
	name := s.p.Incremental.Cursor
	since := o.Since != nil && !value.IsMissing(o.Since)
	if name == "" {
		if since {
			return errors.New("the workflow has no cursor that could begin elsewhere")
		}
		return nil
	}
	_, given := s.Inputs[name]
	switch {
	case since && given:
		return fmt.Errorf("the input %s is given twice", name)
	case since:
		s.Inputs[name] = o.Since
	case given, o.FullRefresh, s.file.Cursor == nil:
	default:
		v, err := value.ParseJSON(s.file.Cursor)
		if err != nil {
			return fmt.Errorf("%s is damaged: cursor: %w", s.path, err)
		}
		if err := s.p.CheckInput(name, v); err != nil {
			return fmt.Errorf("%s: the cursor does not fit the input %q: %w; correct it there, or start again with --full-refresh", s.path, name, err)
		}
		s.Inputs[name] = v
	}
	if v, ok := s.Inputs[name]; ok {
		s.Cursor = v
	}
	return nil
}

// partitions computes the list of partitions to process.
func (s *Session) partitions(o Options) error {
	name := s.p.Incremental.Partitions
	if name == "" {
		if o.RetryFailed {
			return errors.New("the workflow has no partitions that could have failed")
		}
		return nil
	}
	all, err := s.listOf(name)
	if err != nil {
		return err
	}
	done, failed := map[string]bool{}, map[string]bool{}
	if p := s.file.Partitions; p != nil {
		mark(done, p.Done)
		mark(failed, p.Failed)
	}
	s.list = []any{}
	seen := map[string]bool{}
	for _, v := range all {
		key := value.JSON(v)
		switch {
		case seen[key]: // a duplicate
		case o.RetryFailed && !failed[key]:
		case done[key] && !o.FullRefresh:
			s.Done++
		default:
			s.list = append(s.list, v)
		}
		seen[key] = true
	}
	s.Partitions = len(s.list)
	s.Inputs[name] = s.list
	return nil
}

// listOf returns the partitions given as input, or the default of the input.
func (s *Session) listOf(name string) ([]any, error) {
	_, given, err := s.p.Start(object(s.Inputs))
	if err != nil {
		return nil, err
	}
	v, ok := given.Get(name)
	if !ok {
		return nil, fmt.Errorf("the input %s lists the partitions and has no value", name)
	}
	c, err := value.Canonical(v)
	if err != nil {
		return nil, err
	}
	list, ok := c.([]any)
	if !ok {
		return nil, fmt.Errorf("the input %s lists the partitions: want an array, got %s", name, value.TypeName(c))
	}
	return list, nil
}

// object returns inputs sorted by name.
func object(inputs map[string]any) *value.Object {
	o := value.NewObject(len(inputs))
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		o.Set(name, inputs[name])
	}
	return o
}

func mark(set map[string]bool, list []json.RawMessage) {
	for _, v := range list {
		set[string(v)] = true
	}
}

// Listen records from the events of the run how each partition ended and which nodes of
// nested workflows failed. The listener of the run must call it for every event.
func (s *Session) Listen(e core.Event) {
	switch e.Type {
	case core.ItemFinished, core.ItemFailed, core.NodeFailed, core.NodeRetrying:
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	nested := strings.Contains(e.Node, "/")
	cancelled := e.Error != nil && e.Error.Class == core.ClassCanceled // cancelled by another failure, which has its own event, or by the end of the run
	switch e.Type {
	case core.NodeRetrying: // the nodes that failed in this attempt run again
		s.failedNested = slices.DeleteFunc(s.failedNested, func(path string) bool { return inside(path, &e) })
		return
	case core.NodeFailed:
		if nested && !cancelled {
			s.failedNested = append(s.failedNested, e.Node)
		}
		return
	}
	i, ok := e.Item.Get()
	switch {
	case nested && e.Type == core.ItemFailed && !cancelled:
		s.failedNested = append(s.failedNested, e.Node)
	case !ok || e.Node != s.p.Incremental.Node || nested:
	case e.Type == core.ItemFinished:
		s.outcome[i] = (!s.strict || e.Status != core.PartialSuccess.String()) &&
			!slices.ContainsFunc(s.failedNested, func(path string) bool { return inside(path, &e) })
	case !cancelled:
		s.outcome[i] = false
	}
}

// inside reports whether path is in the nested workflow of the node, and of the item or
// round, of an event.
func inside(path string, e *core.Event) bool {
	rest, ok := strings.CutPrefix(path, e.Node)
	if !ok {
		return false
	}
	for _, o := range []core.Ordinal{e.Item, e.Round} {
		if i, has := o.Get(); has {
			return strings.HasPrefix(rest, fmt.Sprintf("[%d]/", i))
		}
	}
	return strings.HasPrefix(rest, "/")
}

// End saves the progress of the run. It sets Cursor to the saved value.
func (s *Session) End(r *core.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file = file{} // another run may have written it since
	if err := s.read(); err != nil {
		return err
	}
	s.file.Version, s.file.Workflow = fileVersion, s.p.Name
	err := s.learnCursor(r)
	s.learnPartitions(r)
	return errors.Join(err, s.write())
}

// whyNotAdvanced returns the reason why a run must not advance the cursor, or "" if it
// may.
func (s *Session) whyNotAdvanced(r *core.Report) string {
	if node := s.failed(r, ""); node != "" {
		return "node " + node + " failed"
	}
	switch {
	case r.Status == core.RunPartial && s.strict:
		return "the run succeeded in part only, and --strict is given"
	case r.Status == core.RunSuccess || r.Status == core.RunPartial:
		return ""
	}
	return "the run is " + string(r.Status)
}

// failed returns the first failed node, handled or not, or "" if there is none. It considers the
// nodes of the workflow other than except, and the nodes of nested workflows other than in the
// items of except.
func (s *Session) failed(r *core.Report, except string) string {
	for _, n := range r.Nodes() {
		if n.Status == core.Fail && n.ID != except && (except == "" || n.Failure == nil || n.Failure.Class != core.ClassCanceled) {
			return n.ID
		}
	}
	for _, path := range slices.Sorted(slices.Values(s.failedNested)) {
		if except == "" || !strings.HasPrefix(path, except+"[") {
			return path
		}
	}
	return ""
}

func (s *Session) learnCursor(r *core.Report) error {
	inc := s.p.Incremental
	if inc.Cursor == "" {
		return nil
	}
	if s.KeptReason = s.whyNotAdvanced(r); s.KeptReason != "" {
		return nil
	}
	env := expressions.MapEnv{State: r.State, Inputs: object(s.Inputs)}.Bind(inc.From)
	v, err := value.Canonical(inc.From.Value(env))
	if err != nil || v == nil || value.IsMissing(v) {
		return nil // the run saw nothing new: keep the old cursor
	}
	if !equalJSON(s.file.Cursor, s.From) {
		s.KeptReason = "another run has moved it since this run began"
		return nil
	}
	if s.file.Cursor, err = value.AppendJSON(nil, v); err == nil {
		s.Cursor = v
	}
	return err
}

// equalJSON reports whether two JSON texts have the same value. An empty text equals only an empty text.
func equalJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, errX := value.ParseJSON(a)
	y, errY := value.ParseJSON(b)
	return errX == nil && errY == nil && value.Equal(x, y)
}

// learnPartitions records which partitions of this run are done and which must be processed again.
// A partition whose item succeeded is not done if a node outside the fan-out failed, because that
// node may be the node that stores its results.
func (s *Session) learnPartitions(r *core.Report) {
	if s.p.Incremental.Partitions == "" {
		return
	}
	if node := s.failed(r, s.p.Incremental.Node); node != "" {
		s.UndoneReason = "node " + node + " failed"
		for i := range s.outcome {
			s.outcome[i] = false
		}
	}
	old := s.file.Partitions
	if old == nil {
		old = &partitionsFile{}
	}
	tried := map[string]bool{}
	next := &partitionsFile{Done: []json.RawMessage{}, Failed: []json.RawMessage{}}
	for i, v := range s.list {
		ok, ended := s.outcome[i]
		if !ended {
			continue
		}
		key := value.JSON(v)
		tried[key] = true
		if ok {
			next.Done = append(next.Done, json.RawMessage(key))
		} else {
			next.Failed = append(next.Failed, json.RawMessage(key))
		}
	}
	kept := func(list []json.RawMessage) []json.RawMessage {
		return slices.DeleteFunc(append([]json.RawMessage{}, list...), func(v json.RawMessage) bool { return tried[string(v)] })
	}
	next.Done, next.Failed = append(kept(old.Done), next.Done...), append(kept(old.Failed), next.Failed...)
	s.file.Partitions = next
}

// write replaces the file atomically. The name of the temporary file depends on the content, so that a run that is resumed
// after its process was killed here replaces what that process has left.
func (s *Session) write() error {
	data, err := json.MarshalIndent(s.file, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	sum := sha256.Sum256(data)
	dir, name := filepath.Split(s.path)
	temp, err := os.Create(filepath.Join(dir, fmt.Sprintf(".%s.%x.tmp", name, sum[:8])))
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // has no effect after the rename
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(temp.Name(), s.path)
}

// Failed returns the number of partitions of this run that failed.
func (s *Session) Failed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, ok := range s.outcome {
		if !ok {
			n++
		}
	}
	return n
}
