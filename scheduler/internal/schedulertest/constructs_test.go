package schedulertest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// constructs is the set of features that a graph uses: the fields that are set, such as Node.Race,
// and for fields with a few possible values also the value, such as Node.Join=any.
type constructs map[string]bool

// declared adds the fields of a type and of the types that it contains.
func (c constructs) declared(t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if name := t.Name() + "." + t.Field(i).Name; !c[name] {
			c[name] = true
			c.declared(t.Field(i).Type)
		}
	}
}

// used adds the fields that are set in a graph, and their words.
func (c constructs) used(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		c.used(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			c.used(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, f := v.Type().Name()+"."+v.Type().Field(i).Name, v.Field(i)
			if f.IsZero() || name == "Node.MaxFailures" && f.Int() < 0 || name == "Field.Default" && value.IsMissing(f.Interface()) {
				continue
			}
			c[name] = true
			c[name+"="+fmt.Sprint(f.Interface())] = true
			c.used(f)
		}
	}
}

// TestGeneratedConstructs requires that a few graphs of each mode contain everything that a
// graph can express, except what the mode lacks, and every word.
func TestGeneratedConstructs(t *testing.T) {
	all := constructs{}
	all.declared(reflect.TypeFor[Graph]())
	for _, tt := range []struct {
		name         string
		generate     func(seed uint64) *Graph
		lacks, words string
	}{
		{"dag", dags(Shape{Expire: true, FailRun: true, Race: true}), `Edge.Label Edge.Restart Edge.Weight Graph.Walk
			Node.Again Node.Error Node.ErrorPolicy Node.Fallback Node.Gate Node.Label Node.MaxParallel Node.MaxVisits Node.RetryTarget
			Node.Skip Node.Suggest Node.Transient WalkSettings.Fallback WalkSettings.MaxJumps WalkSettings.MaxRetries
			WalkSettings.MaxVisits WalkSettings.RepeatLimit WalkSettings.RetryTarget`,
			`Node.Role=human Node.Pause=after Node.Pause=before Node.Policy=skip Node.Policy=fail_run Node.Then=skip Node.Join=any Edge.On=done Edge.On=fail Edge.On=success
			Unit.OnExhausted=continue Unit.OnExhausted=fail`},
		{"walk", GenerateWalk, `Arg.Name Arg.Path Edge.Else Edge.Handles Edge.On Field.Large Graph.Concurrency
			Graph.Loops Graph.Pipelines Node.AllDone Node.Args Node.Collect Node.Concurrency Node.Expires Node.MaxFailures
			Node.Outputs Node.Priority Node.Race Node.Send Node.Source Node.Sub Node.Then Node.Timeout Output.Inner Output.Outer
			Unit.Concurrency Unit.ID Unit.Items Unit.MaxIters Unit.Members Unit.OnExhausted Unit.Policy Unit.Until`,
			`Node.ErrorPolicy=continue Node.ErrorPolicy=fail_fast Node.ErrorPolicy=ignore Node.Join=first_success Node.Join=wait_all
			Node.Pause=after Node.Pause=before Node.Role=conditional Node.Role=exit Node.Role=human Node.Role=parallel Node.Role=start`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := constructs{}
			for seed := range uint64(300) {
				found.used(reflect.ValueOf(tt.generate(seed)))
			}
			lacks := maps.Clone(all)
			maps.DeleteFunc(lacks, func(name string, _ bool) bool { return found[name] })
			if got, want := slices.Sorted(maps.Keys(lacks)), slices.Sorted(strings.FieldsSeq(tt.lacks)); !slices.Equal(got, want) {
				t.Errorf("the graphs lack\n%q, want\n%q", got, want)
			}
			for word := range strings.FieldsSeq(tt.words + ` Field.Merge=array_append Field.Merge=cap Field.Merge=last_wins Field.Merge=max
				Field.Merge=object_merge Field.Merge=set_once Field.Merge=sum Field.Merge=union Node.Policy=retry Node.Join=k_of_n Node.Join=quorum
				Node.Preset=none Node.Preset=standard Node.Preset=aggressive Node.Preset=linear Node.Preset=patient`) {
				if !found[word] {
					t.Errorf("no graph has %s", word)
				}
			}
		})
	}
}
