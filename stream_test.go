package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
)

type reading struct {
	ID    int64    `json:"id"`
	Place string   `json:"place"`
	Value float64  `json:"value"`
	Tags  []string `json:"tags"`
}

func readingOf(i int) reading {
	r := reading{ID: big + int64(i), Place: fmt.Sprint("p", i%7), Value: float64(i%13) / 2}
	if i%3 == 0 {
		r.Tags = []string{"third"}
	}
	return r
}

// emitting is a source of n readings in batches of a given size, in one buffer.
func emitting(n, size int) func(context.Context, func([]reading) error) error {
	return func(_ context.Context, emit func([]reading) error) error {
		var batch []reading
		for i := range n {
			if batch = append(batch, readingOf(i)); len(batch) == size || i == n-1 {
				if err := emit(batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
		}
		return nil
	}
}

func double(_ context.Context, r reading) (reading, error) { r.Value *= 2; return r, nil }

func odd(_ context.Context, r reading) (bool, error) { return r.ID%2 == 1, nil }

// places returns two rows for every third row, and drops the others.
func places(_ context.Context, in iter.Seq2[[]reading, error], emit func([]string) error) error {
	var out []string
	for batch, err := range in {
		if err != nil {
			return err
		}
		out = out[:0]
		for _, r := range batch {
			if len(r.Tags) > 0 {
				out = append(out, r.Place, fmt.Sprint(r.Value))
			}
		}
		if err := emit(out); err != nil {
			return err
		}
	}
	return nil
}

func collect[T any](_ context.Context, rows iter.Seq2[[]T, error]) ([]T, error) {
	var all []T
	for batch, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
	}
	return all, nil
}

func count[T any](_ context.Context, rows iter.Seq2[[]T, error]) (int, error) {
	n := 0
	for batch, err := range rows {
		if err != nil {
			return n, err
		}
		n += len(batch)
	}
	return n, nil
}

func drain[T any](ctx context.Context, rows iter.Seq2[[]T, error]) error {
	_, err := count(ctx, rows)
	return err
}

// expectedRows computes the result of the tests' pipeline in a loop.
func expectedRows(n int) []string {
	var out []string
	for i := range n {
		r, _ := double(context.Background(), readingOf(i))
		if ok, _ := odd(context.Background(), r); ok && len(r.Tags) > 0 {
			out = append(out, r.Place, fmt.Sprint(r.Value))
		}
	}
	return out
}

// A pipeline of typed parts gives the same result as a loop, for all batch sizes and
// limits, even if rows pass through a kind.
func TestStreamEqualsLoop(t *testing.T) {
	run := func(n, size, concurrency uint, dynamic bool) bool {
		n, size, concurrency = n%5000, 1+size%2000, 1+concurrency%8
		raw, doubled, kept, texts := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("doubled"), wavefold.NewStream[reading]("kept"), wavefold.NewStream[string]("texts")
		all := wavefold.NewField[[]string]("all")
		filter := wavefold.StreamFilter("odd", doubled, kept, odd)
		if dynamic {
			filter = wavefold.Node("odd", "transform", map[string]any{"stream": true, "steps": []any{map[string]any{"filter": "$item.id % 2 == 1"}}},
				wavefold.Reads(doubled), wavefold.Writes(kept))
		}
		g := wavefold.New("g", wavefold.Concurrency(int(concurrency)),
			wavefold.StreamSource("load", raw, emitting(int(n), int(size))),
			wavefold.StreamMap("double", raw, doubled, double),
			filter,
			wavefold.StreamStage("places", kept, texts, places),
			wavefold.StreamRead("all", texts, all, collect))
		r, err := g.Run(t.Context())
		if err != nil {
			t.Log(err)
			return false
		}
		if got, _ := raw.Rows(r); got != int64(n) {
			t.Logf("%d rows, want %d", got, n)
			return false
		}
		return slices.Equal(all.Get(r), expectedRows(int(n)))
	}
	if err := quick.Check(run, &quick.Config{MaxCount: 60, Rand: nil}); err != nil {
		t.Error(err)
	}
	if !run(70_000, 4096, 2, false) || run(0, 1, 1, true) == false || len(expectedRows(5000)) == 0 {
		t.Error("the fixed cases differ")
	}
}

func TestStreamState(t *testing.T) {
	raw, kept, texts := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept"), wavefold.NewStream[string]("texts")
	n := wavefold.NewField[int]("n")
	var events []core.Event
	r, err := wavefold.New("g",
		wavefold.StreamSource("load", raw, emitting(200_000, 1000)),
		wavefold.StreamFilter("odd", raw, kept, odd),
		wavefold.StreamStage("places", kept, texts, places),
		wavefold.StreamRead("n", texts, n, count)).Run(t.Context(), wavefold.WithListener(func(e core.Event) { events = append(events, e) }))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value.JSON(r.State), `{"raw":{"source":"load","rows":200000},"kept":{"source":"raw","rows":100000,"from":200000},`+
		`"texts":{"source":"kept","rows":66668,"from":100000},"n":66668}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	far := map[string]int64{}
	for _, e := range events {
		if e.Type == core.Progress {
			far[e.Node] = e.Done
		}
	}
	if far["odd"] != 197_000 && far["odd"] == 0 || far["n"] == 0 {
		t.Errorf("progress: %v", far)
	}
	end, _ := r.Node("n")
	if end.Note != "66668 rows of texts" {
		t.Errorf("note %q", end.Note)
	}
	if rows, ok := kept.Rows(r); rows != 100_000 || !ok {
		t.Errorf("Rows: %d, %t", rows, ok)
	}
	if _, ok := wavefold.NewStream[reading]("other").Rows(r); ok {
		t.Error("a stream that nobody read has a number of rows")
	}
	if _, ok := raw.Rows(nil); ok {
		t.Error("no result has a number of rows")
	}
}

var doubled = wavefold.NewStream[reading]("doubled")

var errBroken = errors.New("broken")

// failing returns pipelines, each of which fails at a different point.
func failing(hit func() error) map[string]struct {
	part func() []wavefold.Part
	want string
} {
	raw, kept := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept")
	n := wavefold.NewField[int]("n")
	load := wavefold.StreamSource("load", raw, emitting(100, 10))
	pass := wavefold.StreamMap("pass", raw, kept, double)
	end := wavefold.StreamRead("end", kept, n, count)
	at := func(id int64) func(reading) error {
		return func(r reading) error {
			if r.ID == big+id {
				return hit()
			}
			return nil
		}
	}
	type c = struct {
		part func() []wavefold.Part
		want string
	}
	return map[string]c{
		"source": {func() []wavefold.Part {
			return []wavefold.Part{wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				return errors.Join(emitting(15, 10)(ctx, emit), hit())
			}), pass, end}
		}, `stream "kept" of node pass: stream "raw" of node load: `},
		"map": {func() []wavefold.Part {
			return []wavefold.Part{load, wavefold.StreamMap("pass", raw, kept, func(_ context.Context, r reading) (reading, error) { return r, at(42)(r) }), end}
		}, `stream "kept" of node pass: row 43: `},
		"filter": {func() []wavefold.Part {
			return []wavefold.Part{load, wavefold.StreamFilter("pass", raw, kept, func(_ context.Context, r reading) (bool, error) { return true, at(9)(r) }), end}
		}, `stream "kept" of node pass: row 10: `},
		"stage": {func() []wavefold.Part {
			return []wavefold.Part{load, wavefold.StreamStage("pass", raw, kept, func(ctx context.Context, in iter.Seq2[[]reading, error], emit func([]reading) error) error {
				for range in {
					return hit()
				}
				return nil
			}), end}
		}, `stream "kept" of node pass: `},
		"batch": {func() []wavefold.Part {
			return []wavefold.Part{load, wavefold.StreamBatch("pass", raw, kept, func(_ context.Context, rows, made []reading) ([]reading, error) {
				if rows[0].ID == big+20 {
					return nil, hit()
				}
				return append(made, rows...), nil
			}), end}
		}, `stream "kept" of node pass: rows 21 to 30: `},
		"fold": {func() []wavefold.Part {
			return []wavefold.Part{load, pass, wavefold.StreamFold("end", kept, n, func(_ context.Context, n int, rows []reading) (int, error) {
				if n == 20 {
					return 0, hit()
				}
				return n + len(rows), nil
			})}
		}, `rows 21 to 30: `},
		"read": {func() []wavefold.Part {
			return []wavefold.Part{load, pass, wavefold.StreamRead("end", kept, n, func(_ context.Context, rows iter.Seq2[[]reading, error]) (int, error) {
				for range rows {
					return 0, hit()
				}
				return 0, nil
			})}
		}, ""},
		"sink": {func() []wavefold.Part {
			return []wavefold.Part{load, pass, wavefold.StreamSink("end", kept, func(_ context.Context, rows iter.Seq2[[]reading, error]) error {
				for range rows {
				}
				return hit()
			})}
		}, ""},
	}
}

// wantError returns the expected error of a run. For a panic it names the part whose
// function panicked.
func wantError(where string, panics bool) string {
	if !panics {
		return "node end: " + where + "broken"
	}
	where = where[:strings.Index(where+"row", "row")]
	return "node end: " + where[max(0, strings.LastIndex(where, "stream ")):] + "panic: broken"
}

func TestStreamFailures(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for name, c := range failing(func() error {
			if panics {
				panic(errBroken)
			}
			return errBroken
		}) {
			t.Run(fmt.Sprintf("%s/panics=%t", name, panics), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
					r, err := wavefold.New("g", c.part()...).Run(t.Context())
					want := wantError(c.want, panics)
					if err == nil || err.Error() != want || !errors.Is(err, errBroken) {
						t.Errorf("got  %v\nwant %s", err, want)
					}
					end, _ := r.Node("end")
					if end.Failure == nil || panics != (end.Failure.Class == core.ClassPanic) || panics != strings.Contains(end.Failure.Stack, "stream_test.go") {
						t.Errorf("failure %+v", end.Failure)
					}
					if load, _ := r.Node("load"); load.Status != core.Success {
						t.Errorf("load is %s", load.Status)
					}
				})
			})
		}
	}
}

// Another kind of reader pulls batches: errors are the same, and suspended parts end.
func TestStreamFailuresWhenPulled(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for name, c := range failing(func() error {
			if panics {
				panic(errBroken)
			}
			return errBroken
		}) {
			if !strings.HasPrefix(c.want, "stream") {
				continue // the reader at the end itself
			}
			t.Run(fmt.Sprintf("%s/panics=%t", name, panics), func(t *testing.T) {
				parts := append(c.part()[:2], wavefold.Node("end", "transform", map[string]any{"from": "kept", "steps": []any{map[string]any{"limit": 1000}}},
					wavefold.Reads(wavefold.NewStream[reading]("kept")), wavefold.Writes(wavefold.NewField[[]any]("out"))))
				synctest.Test(t, func(t *testing.T) {
					_, err := wavefold.New("g", parts...).Run(t.Context())
					want := wantError(c.want, panics)
					if err == nil || err.Error() != want || !errors.Is(err, errBroken) {
						t.Errorf("got  %v\nwant %s", err, want)
					}
				})
			})
		}
	}
}

func TestStreamGoexit(t *testing.T) {
	for name, c := range failing(func() error { runtime.Goexit(); return nil }) {
		t.Run(name, func(t *testing.T) {
			_, err := wavefold.New("g", c.part()...).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "node end: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A function that violates its contract gets an error, or does no harm.
func TestStreamMisuse(t *testing.T) {
	raw, n := wavefold.NewStream[reading]("raw"), wavefold.NewField[int]("n")
	load := wavefold.StreamSource("load", raw, emitting(100, 10))
	fold := func(f func(context.Context, iter.Seq2[[]reading, error]) (int, error)) wavefold.Part {
		return wavefold.StreamRead("end", raw, n, f)
	}
	var emitLate func([]reading) error
	var rowsLate iter.Seq2[[]reading, error]
	for _, c := range []struct {
		name  string
		parts []wavefold.Part
		want  string
	}{
		{"twice", []wavefold.Part{load, fold(func(ctx context.Context, rows iter.Seq2[[]reading, error]) (int, error) {
			n, _ := count(ctx, rows)
			m, err := count(ctx, rows)
			return n + m, err
		})}, "node end: the rows of a stream can be read once, while the part's function runs"},
		{"error taken for the end", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				return errors.Join(emitting(10, 10)(ctx, emit), errBroken)
			}),
			fold(func(_ context.Context, rows iter.Seq2[[]reading, error]) (n int, _ error) {
				for batch := range rows {
					n += len(batch)
				}
				return n, nil
			})}, `node end: stream "raw" of node load: broken`},
		{"EOF is an error", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				return errors.Join(emitting(10, 10)(ctx, emit), io.EOF)
			}), fold(count)}, `node end: stream "raw" of node load: EOF`},
		{"EOF is an error of what is pulled, too", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				return errors.Join(emitting(10, 10)(ctx, emit), io.EOF)
			}), wavefold.Node("end", "transform", map[string]any{"steps": []any{map[string]any{"limit": 1000}}}, wavefold.Reads(raw), wavefold.Writes(wavefold.NewField[[]any]("out")))},
			`node end: stream "raw" of node load: EOF`},
		{"the error of emit is passed over", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(_ context.Context, emit func([]reading) error) error {
				for range 10 {
					_ = emit([]reading{{}})
				}
				return nil
			}),
			fold(func(_ context.Context, rows iter.Seq2[[]reading, error]) (n int, _ error) {
				for range rows {
					return 1, nil
				}
				return 0, nil
			})}, ""},
		{"an error of its own after enough", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(_ context.Context, emit func([]reading) error) error {
				if emit([]reading{{}}) != nil {
					return errBroken
				}
				return nil
			}),
			fold(func(_ context.Context, rows iter.Seq2[[]reading, error]) (n int, _ error) {
				for range rows {
					return 1, nil
				}
				return 0, nil
			})}, ""},
		{"nothing read", []wavefold.Part{load, fold(func(context.Context, iter.Seq2[[]reading, error]) (int, error) { return 7, nil })}, ""},
		{"late", []wavefold.Part{
			wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				emitLate = emit
				return emitting(10, 10)(ctx, emit)
			}),
			fold(func(ctx context.Context, rows iter.Seq2[[]reading, error]) (int, error) {
				rowsLate = rows
				return count(ctx, rows)
			})}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := wavefold.New("g", c.parts...).Run(t.Context())
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if err := emitLate([]reading{{}}); err == nil || err.Error() != "emit was called after the function it was given to had returned" {
		t.Errorf("a late emit: %v", err)
	}
	for _, err := range rowsLate {
		if err == nil {
			t.Error("rows after the end")
		}
	}
}

// A reader that needs no more rows ends the parts before it, in order, without a
// failure.
func TestStreamReaderStopsEarly(t *testing.T) {
	raw, few := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("few")
	all := wavefold.NewField[[]reading]("all")
	var log []string
	source := wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
		defer func() { log = append(log, "load ended") }()
		return emitting(1000, 10)(ctx, emit)
	})
	first := wavefold.StreamStage("first", raw, few, func(_ context.Context, in iter.Seq2[[]reading, error], emit func([]reading) error) error {
		defer func() { log = append(log, "first ended") }()
		left := 25
		for batch, err := range in {
			if err != nil {
				return err
			}
			batch = batch[:min(left, len(batch))]
			left -= len(batch)
			if err := emit(batch); err != nil || left == 0 {
				return err
			}
		}
		return nil
	})
	r, err := wavefold.New("g", source, first, wavefold.StreamRead("all", few, all, collect)).Run(t.Context())
	if err != nil || len(all.Get(r)) != 25 {
		t.Errorf("%d rows, %v", len(all.Get(r)), err)
	}
	if got, want := strings.Join(log, ", "), "load ended, first ended"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n, ok := few.Rows(r); n != 25 || !ok {
		t.Errorf("few: %d, %t", n, ok)
	}
	if _, ok := raw.Rows(r); ok {
		t.Error("raw was not read to its end and has a number of rows")
	}
	log = nil
	r, err = wavefold.New("g", source, first, wavefold.Node("all", "transform", map[string]any{"steps": []any{map[string]any{"limit": 15}}}, wavefold.Reads(few), wavefold.Writes(all))).Run(t.Context())
	if err != nil || len(all.Get(r)) != 15 {
		t.Errorf("%d rows, %v", len(all.Get(r)), err)
	}
	if got, want := strings.Join(log, ", "), "load ended, first ended"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Each attempt of the part at the end begins with the first row.
func TestStreamRetryAndTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw, kept := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept")
		n := wavefold.NewField[int]("n")
		attempts := 0
		r, err := wavefold.New("g",
			wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
				attempts++
				if err := emitting(20, 7)(ctx, emit); err != nil {
					return err
				}
				switch attempts {
				case 1:
					return errBroken
				case 2:
					<-ctx.Done() // exceeds the timeout of an attempt
					return ctx.Err()
				}
				return nil
			}),
			wavefold.StreamMap("pass", raw, kept, double),
			wavefold.StreamRead("n", kept, n, count, wavefold.Retry(3), wavefold.Timeout(time.Second))).Run(t.Context())
		if end, _ := r.Node("n"); err != nil || n.Get(r) != 20 || attempts != 3 || end.Attempts != 3 {
			t.Errorf("%d rows, %d attempts, %v", n.Get(r), attempts, err)
		}
	})
}

// When the run's context ends, emit returns an error, even to a function that does not
// check the context.
func TestStreamCancelled(t *testing.T) {
	for _, pulled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			raw, n := wavefold.NewStream[reading]("raw"), wavefold.NewField[int]("n")
			ctx, cancel := context.WithCancel(t.Context())
			var emitErr error
			end := wavefold.StreamRead("end", raw, n, count)
			if pulled {
				end = wavefold.Node("end", "transform", map[string]any{"steps": []any{map[string]any{"filter": "$item.id == 1"}}}, wavefold.Reads(raw), wavefold.Writes(wavefold.NewField[[]any]("out")))
			}
			_, err := wavefold.New("g",
				wavefold.StreamSource("load", raw, func(_ context.Context, emit func([]reading) error) error {
					for i := 0; ; i++ {
						time.Sleep(time.Millisecond)
						if i == 50 {
							cancel()
						}
						if emitErr = emit([]reading{readingOf(i)}); emitErr != nil {
							return emitErr
						}
					}
				}), end).Run(ctx)
			if !errors.Is(err, context.Canceled) || emitErr == nil {
				t.Errorf("pulled %t: %v; emit said %v", pulled, err, emitErr)
			}
		})
	}
}

// A function that ignores its context is abandoned with the part at the end, and later
// batches are discarded.
func TestStreamStray(t *testing.T) {
	for _, pulled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			raw, n := wavefold.NewStream[reading]("raw"), wavefold.NewField[int]("n")
			ctx, cancel := context.WithCancel(t.Context())
			release, emitErrs, rows := make(chan bool), make(chan error, 1), 0
			end := wavefold.StreamFold("end", raw, n, func(_ context.Context, n int, batch []reading) (int, error) { rows++; return n, nil })
			if pulled {
				end = wavefold.Node("end", "transform", map[string]any{"steps": []any{map[string]any{"limit": 10}}}, wavefold.Reads(raw), wavefold.Writes(wavefold.NewField[[]any]("out")))
			}
			r, err := wavefold.New("g",
				wavefold.StreamSource("load", raw, func(_ context.Context, emit func([]reading) error) error {
					cancel()
					<-release
					emitErrs <- emit([]reading{{}})
					return nil
				}), end).Run(ctx, wavefold.WithGrace(time.Minute))
			stray, ok := errors.AsType[*core.StrayError](err)
			if !ok || !slices.Equal(stray.Nodes, []string{"end"}) || r.Status != core.RunCancelled {
				t.Errorf("pulled %t: %s, %v", pulled, r.Status, err)
			}
			close(release)
			if err := <-emitErrs; !errors.Is(err, context.Canceled) || rows > 0 {
				t.Errorf("pulled %t: emit said %v, %d batches went on", pulled, err, rows)
			}
		})
	}
}

// Rows pass between kinds and typed parts in both directions, by the rules of JSON.
func TestStreamAndKinds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("in.csv", "id,place,value\n9007199254740993,Oslo,1.5\n2,Rome,2\n")
	write("bad.jsonl", `{"id":1,"place":"Oslo","value":1,"tags":["a"]}`+"\n"+`{"id":2,"place":"Rome","value":"much"}`+"\n")
	raw, kept, n := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept"), wavefold.NewField[int]("n")
	using := wavefold.Using(wavefold.NewEngine(std.Kinds()...))
	from := func(file string) wavefold.Part {
		optional := map[string]any{"tags": map[string]any{"optional": true}} // every file has the other columns
		return wavefold.Node("load", "dataset", map[string]any{"source": file, "stream": true, "columns": optional}, wavefold.Writes(raw))
	}
	if _, err := wavefold.New("g", using, wavefold.Dir(dir), wavefold.Node("load", "dataset", map[string]any{"source": "in.csv", "stream": true}, wavefold.Writes(raw)),
		wavefold.Node("save", "sink", map[string]any{"to": "out.jsonl"}, wavefold.Reads(raw))).Run(t.Context()); err == nil || !strings.Contains(err.Error(), `the file has no column "tags"`) {
		t.Errorf("a field of the struct that the file lacks: %v", err)
	}
	r, err := wavefold.New("g", using, wavefold.Dir(dir), from("in.csv"), wavefold.StreamMap("double", raw, kept, double),
		wavefold.Node("save", "sink", map[string]any{"to": "out.jsonl"}, wavefold.Reads(kept))).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, _ := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if got, want := string(out), `{"id":9007199254740993,"place":"Oslo","value":3.0,"tags":null}`+"\n"+`{"id":2,"place":"Rome","value":4.0,"tags":null}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := value.JSON(r.State), `"kept":{"source":"raw","rows":2,"from":2}`; !strings.Contains(got, want) || !strings.Contains(got, `"rows":2,"hash"`) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Rows with a type that does not fit.
	type loose struct {
		ID    int64 `json:"id"`
		Value any   `json:"value"`
	}
	open := wavefold.NewStream[map[string]any]("raw")
	tight := wavefold.NewStream[reading]("tight")
	g := wavefold.New("g", using, wavefold.Dir(dir),
		wavefold.Node("load", "dataset", map[string]any{"source": "bad.jsonl", "stream": true}, wavefold.Writes(open)),
		wavefold.Node("same", "transform", map[string]any{"stream": true, "steps": []any{map[string]any{"limit": 10}}}, wavefold.Reads(open), wavefold.Writes(tight)),
		wavefold.StreamRead("n", tight, n, count))
	if _, err = g.Run(t.Context()); err == nil || err.Error() != `node n: stream "tight": row 2: value: string "much" does not fit float64` {
		t.Errorf("got %v", err)
	}
	// A value without a JSON form.
	g = wavefold.New("g", using, wavefold.Dir(dir),
		wavefold.StreamSource("load", raw, func(_ context.Context, emit func([]reading) error) error {
			return errors.Join(emitting(5, 5)(context.Background(), emit), emit([]reading{{}, {Value: math.NaN()}}))
		}),
		wavefold.Node("save", "sink", map[string]any{"to": "out.jsonl"}, wavefold.Reads(raw)))
	if _, err = g.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), `stream "raw" of node load: row 7: value: NaN has no JSON form`) {
		t.Errorf("got %v", err)
	}
	// An ordinary array is read as well.
	whole := wavefold.NewStream[loose]("whole")
	r, err = wavefold.New("g", using, wavefold.Dir(dir), wavefold.Node("load", "dataset", map[string]any{"source": "in.csv"}, wavefold.Writes(whole)),
		wavefold.StreamRead("n", whole, n, count)).Run(t.Context())
	if err != nil || n.Get(r) != 2 {
		t.Errorf("%d rows, %v", n.Get(r), err)
	}
	r, err = wavefold.New("g", wavefold.StreamRead("n", whole, n, count)).Run(t.Context(), wavefold.Set("whole", []any{map[string]any{"id": 3}}))
	if err != nil || n.Get(r) != 1 {
		t.Errorf("%d rows, %v", n.Get(r), err)
	}
	if _, err = wavefold.New("g", wavefold.StreamRead("n", whole, n, count)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), `stream "whole" has no rows: no part makes it, and no input gave it any`) {
		t.Errorf("got %v", err)
	}
}

// Bytes are rows, although JSON encodes a slice of them as a string. Rows that are not
// structs pass through a kind that does not inspect them.
func TestStreamOfScalars(t *testing.T) {
	dir := t.TempDir()
	bytes, back := wavefold.NewStream[byte]("bytes"), wavefold.NewField[[]byte]("back")
	using := wavefold.Using(wavefold.NewEngine(std.Kinds()...))
	load := wavefold.StreamSource("load", bytes, func(_ context.Context, emit func([]byte) error) error { return emit([]byte("ab")) })
	r, err := wavefold.New("g", load, wavefold.StreamRead("back", bytes, back, collect)).Run(t.Context())
	if err != nil || string(back.Get(r)) != "ab" {
		t.Errorf("%q, %v", back.Get(r), err)
	}
	_, err = wavefold.New("g", using, wavefold.Dir(dir), load, wavefold.Node("save", "sink", map[string]any{"to": "out.jsonl"}, wavefold.Reads(bytes))).Run(t.Context())
	if out, _ := os.ReadFile(filepath.Join(dir, "out.jsonl")); err != nil || string(out) != "97\n98\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// Parts that take one row at a time read a stream, several rows concurrently, in order.
func TestStreamRowByRow(t *testing.T) {
	raw, kept := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept")
	names := wavefold.NewField[[]string]("names", wavefold.Append)
	name := func(_ context.Context, r reading) (string, error) {
		return fmt.Sprint(r.ID-big, r.Place, r.Value, r.Tags), nil
	}
	var want []string
	for i := range 500 {
		if r, _ := double(t.Context(), readingOf(i)); r.ID%2 == 1 {
			s, _ := name(t.Context(), r)
			want = append(want, s)
		}
	}
	for what, end := range map[string]wavefold.Part{
		"each": wavefold.Each("end", kept.Field(), names, name, wavefold.Limit(8)),
		"pipeline": wavefold.Pipeline("end", kept.Field(), wavefold.Pipe(
			wavefold.Stage("same", func(_ context.Context, r reading) (reading, error) { return r, nil }), wavefold.Stage("name", name).Into(names)), wavefold.Limit(3)),
	} {
		g := wavefold.New("g", wavefold.StreamSource("load", raw, emitting(500, 33)),
			wavefold.StreamMap("double", raw, doubled, double), wavefold.StreamFilter("odd", doubled, kept, odd), end)
		r, err := g.Run(t.Context())
		if err != nil || !slices.Equal(names.Get(r), want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", what, err, names.Get(r), want)
		}
		if n, ok := raw.Rows(r); n != 500 || !ok {
			t.Errorf("%s: %d rows, %t", what, n, ok)
		}
		if got := kept.Field().Get(r); got != nil {
			t.Errorf("%s: the state has rows: %v", what, got)
		}
	}
	n := wavefold.NewField[int]("n")
	r, err := wavefold.New("g", wavefold.StreamRead("n", raw, n, count)).Run(t.Context(), raw.Field().Is([]reading{readingOf(1), readingOf(2)}))
	if err != nil || n.Get(r) != 2 {
		t.Errorf("%d rows, %v", n.Get(r), err)
	}
	if f := (wavefold.Stream[reading]{}).Field(); f.Name() != "" {
		t.Error("a stream that is none is a field")
	}
	ds := wavefold.New("g", wavefold.StreamSource("load", raw, emitting(1, 1)), wavefold.Map("end", raw.Field(), n, func(context.Context, []reading) (int, error) { return 0, nil })).Findings()
	if len(ds) != 1 || !strings.HasPrefix(ds[0].Message, `node end: reads: state field "raw" is a stream, its rows are not in the state`) {
		t.Errorf("got %v", ds)
	}
}

// A graph with streams can be saved like any other.
func TestStreamSaved(t *testing.T) {
	name, raw, kept, n := wavefold.NewField[string]("name"), wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept"), wavefold.NewField[int]("n")
	g := wavefold.New("saved",
		wavefold.StreamFrom("load", name, raw, func(ctx context.Context, name string, emit func([]reading) error) error {
			return emitting(len(name), 2)(ctx, emit)
		}),
		wavefold.StreamFilter("odd", raw, kept, odd), wavefold.StreamRead("n", kept, n, count))
	r, err := g.Run(t.Context(), name.Is("twelve chars"))
	if err != nil || n.Get(r) != 6 {
		t.Fatalf("%d rows, %v", n.Get(r), err)
	}
	text, err := g.Save()
	if err != nil {
		t.Fatal(err)
	}
	e := wavefold.NewEngine()
	if err := e.Bind(g); err != nil {
		t.Fatal(err)
	}
	w, ds := e.Parse("saved.yaml", text)
	if err := ds.Err(true); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	odd := strings.Replace(string(text), "value: {type: number}", "value: {type: string}", 1)
	if doc, _ := e.Parse("saved.yaml", []byte(odd)); odd == string(text) {
		t.Errorf("the document has no column value:\n%s", text)
	} else if _, ds := e.Compile(doc, false); !strings.Contains(ds.Error(), `reads: field "kept": [].value is of type string, but the function's type []wavefold_test.reading takes number there`) &&
		!strings.Contains(ds.Error(), `writes: field "raw": [].value is of type string, but the function's type []wavefold_test.reading takes number there`) {
		t.Errorf("got %v", ds)
	}
	again, err := e.Graph(w).Run(t.Context(), wavefold.Set("name", "twelve chars"))
	if err != nil || value.JSON(again.State) != value.JSON(r.State) {
		t.Errorf("%v\ngot  %s\nwant %s", err, value.JSON(again.State), value.JSON(r.State))
	}
}

func TestStreamFindings(t *testing.T) {
	raw, kept, n := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept"), wavefold.NewField[int]("n")
	load := wavefold.StreamSource("load", raw, emitting(1, 1))
	end := wavefold.StreamRead("end", raw, n, count)
	type part = wavefold.Part
	for _, c := range []struct {
		name  string
		parts []part
		want  []string
	}{
		{"two readers", []part{load, end, wavefold.StreamSink("other", raw, drain)},
			[]string{`STREAM node other: reads: the stream "raw" has a reader already, node end - first at`}},
		{"two makers", []part{load, wavefold.StreamSource("again", raw, emitting(1, 1)), end},
			[]string{`STREAM node again: two nodes make a stream of field "raw" - first at`}},
		{"another field of the name", []part{load, wavefold.Map("end", wavefold.NewField[[]reading]("raw"), n, func(context.Context, []reading) (int, error) { return 0, nil })},
			[]string{`DUPLICATE_ID state field "raw" is declared twice and not alike - the other declaration is at`, `STREAM node end`}},
		{"another type", []part{load, wavefold.StreamRead("end", wavefold.NewStream[string]("raw"), n, count)},
			[]string{`DUPLICATE_ID state field "raw" is declared twice and not alike - the other declaration is at`}},
		{"read as a value", []part{load, wavefold.Func("end", wavefold.Fields(raw), nil, func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })},
			[]string{`STREAM node end: reads: state field "raw" is a stream, its rows are not in the state - read it with a StreamFold, a StreamSink or another part for streams, or with a transform, a sink or a pipeline`}},
		{"in a condition", []part{load, end, wavefold.Do("more", func(context.Context) error { return nil }, wavefold.After("end"), wavefold.When("length($.raw) > 1"))},
			[]string{`STREAM edge end -> more: when: state field "raw" is a stream`}},
		{"nobody reads", []part{load}, []string{`UNUSED node load: no node reads the stream "raw", so no row is ever read - `}},
		{"in a loop", []part{wavefold.Loop("loop", wavefold.Body{load, end}, wavefold.MaxIters(2))},
			[]string{`STREAM node load: a node with for_each, or of a pipeline or loop, cannot make a stream`}},
		{"options", []part{wavefold.StreamSource("load", raw, emitting(1, 1), wavefold.Retry(2), wavefold.Describe("x"), wavefold.Timeout(time.Second)), end},
			[]string{`UNKNOWN_KEY node load: option Retry means nothing to StreamSource here - the rows are made while the part at the end of the streams runs: give it to that one`,
				`UNKNOWN_KEY node load: option Timeout means nothing to StreamSource here - the rows are made while the part at the end of the streams runs: give it to that one`}},
		{"no function", []part{wavefold.StreamSource[reading]("load", raw, nil), wavefold.StreamMap[reading, reading]("map", raw, kept, nil), wavefold.StreamSink("end", kept, nil)},
			[]string{"MISSING_KEY node load: StreamSource has no function", "MISSING_KEY node map: StreamMap has no function", "MISSING_KEY node end: StreamSink has no function"}},
		{"no field", []part{load, wavefold.StreamRead("end", wavefold.Stream[reading]{}, n, count)},
			[]string{"UNKNOWN_FIELD node end: a field was not made by NewField or NewStream", `UNUSED`}},
		{"no JSON form", []part{wavefold.StreamSource("load", wavefold.NewStream[func()]("fs"), func(context.Context, func([]func()) error) error { return nil })},
			[]string{`WRONG_TYPE stream "fs": func() has no JSON form`, "UNUSED"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range wavefold.New("g", c.parts...).Findings() {
				got = append(got, fmt.Sprintf("%s %s - %s", d.Code, d.Message, d.Hint))
				if !strings.HasSuffix(d.Pos.File, "stream_test.go") || d.Pos.Line == 0 {
					t.Errorf("%s: no place in this file: %s", d.Message, d.Pos)
				}
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
					t.Errorf("want %s\ngot  %s", w, strings.Join(got, "\n     "))
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%d findings, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n"))
			}
		})
	}
}

// Concurrent runs of one graph share nothing, and a batch may be reused when emit has
// returned.
func TestStreamConcurrentRuns(t *testing.T) {
	raw, kept, all := wavefold.NewStream[reading]("raw"), wavefold.NewStream[reading]("kept"), wavefold.NewField[[]reading]("all")
	size := wavefold.NewField[int]("size")
	g := wavefold.New("g",
		wavefold.StreamFrom("load", size, raw, func(ctx context.Context, size int, emit func([]reading) error) error {
			return emitting(2000, size)(ctx, emit)
		}),
		wavefold.StreamMap("double", raw, kept, double), wavefold.StreamRead("all", kept, all, collect))
	done := make(chan string)
	for i := range 8 {
		go func() {
			r, err := g.Run(t.Context(), size.Is(1+i*37))
			if err != nil {
				done <- err.Error()
				return
			}
			done <- value.JSON(all.Get(r))
		}()
	}
	want := make([]reading, 2000)
	for i := range want {
		want[i], _ = double(context.Background(), readingOf(i))
	}
	for range 8 {
		if got := <-done; got != value.JSON(want) {
			t.Fatalf("got %.200s", got)
		}
	}
}

// Parts do not change a batch that a user's function lent them, even if they modify
// their own batches in place.
func TestStreamKeepsLentBatches(t *testing.T) {
	ours := make([]reading, 500)
	for i := range ours {
		ours[i] = readingOf(i)
	}
	before := value.JSON(ours)
	lend := func(_ context.Context, emit func([]reading) error) error {
		for batch := range slices.Chunk(ours, 64) {
			if err := emit(batch); err != nil {
				return err
			}
		}
		return nil
	}
	same := func(_ context.Context, rows, _ []reading) ([]reading, error) { return rows, nil }
	tail := func(_ context.Context, rows, _ []reading) ([]reading, error) { return rows[len(rows)/2:], nil }
	table := slices.Clone(ours[:3])
	fixed := func(_ context.Context, rows, _ []reading) ([]reading, error) { return table, nil }
	twice := func(_ context.Context, rows, made []reading) ([]reading, error) {
		for _, r := range rows {
			made = append(made, r, r)
		}
		return made, nil
	}
	turns := func(ctx context.Context, rows, made []reading) ([]reading, error) {
		if (rows[0].ID-big)/64%2 == 0 {
			return rows, nil
		}
		for range rows {
			made = append(made, reading{Place: "made"})
		}
		return made, nil
	}
	var a, b, c, d wavefold.Stream[reading]
	for i, s := range []*wavefold.Stream[reading]{&a, &b, &c, &d} {
		*s = wavefold.NewStream[reading](string(rune('a' + i)))
	}
	all := wavefold.NewField[[]reading]("all")
	load, end := wavefold.StreamSource("load", a, lend), wavefold.StreamRead("end", d, all, collect)
	for name, parts := range map[string][]wavefold.Part{
		"map":    {wavefold.StreamMap("n1", a, b, double), wavefold.StreamMap("n2", b, c, double), wavefold.StreamFilter("n3", c, d, odd)},
		"filter": {wavefold.StreamFilter("n1", a, b, odd), wavefold.StreamMap("n2", b, c, double), wavefold.StreamMap("n3", c, d, double)},
		"same":   {wavefold.StreamBatch("n1", a, b, same), wavefold.StreamMap("n2", b, c, double), wavefold.StreamBatch("n3", c, d, same)},
		"tail":   {wavefold.StreamMap("n1", a, b, double), wavefold.StreamBatch("n2", b, c, tail), wavefold.StreamFilter("n3", c, d, odd)},
		"fixed":  {wavefold.StreamMap("n1", a, b, double), wavefold.StreamBatch("n2", b, c, fixed), wavefold.StreamMap("n3", c, d, double)},
		"turns":  {wavefold.StreamBatch("n1", a, b, turns), wavefold.StreamMap("n2", b, c, double), wavefold.StreamMap("n3", c, d, double)},
		"twice":  {wavefold.StreamBatch("n1", a, b, twice), wavefold.StreamMap("n2", b, c, double), wavefold.StreamBatch("n3", c, d, twice)},
	} {
		g := wavefold.New("g", append(parts, load, end)...)
		var first string
		for range 2 {
			r, err := g.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := value.JSON(all.Get(r))
			if first == "" {
				first = got
			}
			if got != first || len(all.Get(r)) == 0 {
				t.Errorf("%s: another run gives something else", name)
			}
		}
		if value.JSON(ours) != before || value.JSON(table) != value.JSON(ours[:3]) {
			t.Fatalf("%s: what a function lent was changed", name)
		}
		if name == "twice" {
			var want []reading
			for _, r := range ours {
				r.Value *= 2
				want = append(want, r, r, r, r)
			}
			if first != value.JSON(want) {
				t.Error("twice: the rows differ")
			}
		}
	}
}

// The stages of a pipeline over a stream get batches of rows, from typed parts and from
// kinds. With Flush, an incomplete batch is passed on when it has waited long enough.
func TestStreamPipeline(t *testing.T) {
	raw, sums := wavefold.NewStream[reading]("raw"), wavefold.NewField[[]int64]("sums", wavefold.Append)
	stages := func() wavefold.Stages[[]reading, int64] {
		return wavefold.Pipe(
			wavefold.Stage("ids", func(_ context.Context, rows []reading) ([]int64, error) {
				var ids []int64
				for _, r := range rows {
					ids = append(ids, r.ID)
				}
				return ids, nil
			}),
			wavefold.Stage("sum", func(_ context.Context, ids []int64) (sum int64, _ error) {
				for _, id := range ids {
					sum += id
				}
				return sum, nil
			}).Into(sums))
	}
	slow := func(pauses ...time.Duration) wavefold.Part {
		return wavefold.StreamSource("load", raw, func(ctx context.Context, emit func([]reading) error) error {
			for i, pause := range pauses {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return ctx.Err()
				}
				if err := emit([]reading{{ID: int64(1) << i, Place: "Oslo"}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, c := range []struct {
		load    wavefold.Part
		options []wavefold.Option
		want    string
	}{
		{slow(0, 0, 0, 0, 0), nil, "[3 12 16]"},
		{slow(0, time.Minute, time.Minute, 0, 0), []wavefold.Option{wavefold.Limit(2)}, "[3 12 16]"},
		{slow(0, time.Minute, time.Minute, 0, 0), []wavefold.Option{wavefold.Flush(time.Second)}, "[1 2 12 16]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := wavefold.New("g", c.load, wavefold.StreamPipeline("p", raw, 2, stages(), c.options...)).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(sums.Get(r)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if n, ok := raw.Rows(r); n != 5 || !ok {
				t.Errorf("%d rows", n)
			}
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte("id,place,value,tags\n1,Oslo,,\n2,Rome,,\n3,Kyiv,,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := wavefold.New("g", wavefold.Using(wavefold.NewEngine(std.Kinds()...)), wavefold.Dir(dir),
		wavefold.Node("load", "dataset", map[string]any{"source": "in.csv", "stream": true}, wavefold.Writes(raw)),
		wavefold.StreamPipeline("p", raw, 2, stages())).Run(t.Context())
	if got := fmt.Sprint(sums.Get(r)); err != nil || got != "[3 3]" {
		t.Errorf("%s, %v", got, err)
	}
	for want, part := range map[string]wavefold.Part{
		"batch: want a whole number of at least 1, got 0":                    wavefold.StreamPipeline("p", raw, 0, stages()),
		"flush: want more than 0, got 0s":                                    wavefold.StreamPipeline("p", raw, 2, stages(), wavefold.Flush(0)),
		"option Flush means nothing to Do here (it is for [StreamPipeline])": wavefold.Do("p", func(context.Context) error { return nil }, wavefold.Flush(1)),
		"option MaxFailures means nothing to StreamPipeline here":            wavefold.StreamPipeline("p", raw, 2, stages(), wavefold.MaxFailures(1)),
	} {
		_, err := wavefold.New("g", slow(0), part).Run(t.Context())
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), " - ", " ("), strings.Split(want, " (")[0]) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
