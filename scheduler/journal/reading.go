package journal

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// RowSum is a checksum of consecutive rows. It does not depend on how the rows were divided into
// reads. The zero RowSum is the checksum of no rows.
type RowSum struct {
	n   int64
	sum uint32
}

// sumFactor is odd, so that no row is lost from the sum however many rows follow.
const sumFactor = 0x9e3779b1

// Len returns the number of rows.
func (s RowSum) Len() int64 { return s.n }

// Add adds a row. The error means that the row has no JSON form.
func (s *RowSum) Add(row any) error { return s.add(row, &writer{}) }

// add is Add with a writer whose buffer is used again.
func (s *RowSum) add(row any, w *writer) error {
	if w.codec == nil {
		w.codec = &Codec{}
	}
	w.buf = w.buf[:0]
	w.nested(row, 0)
	s.n, s.sum = s.n+1, s.sum*sumFactor+crc(w.buf)
	return w.err
}

// then returns the checksum of the rows followed by others.
func (s RowSum) then(o RowSum) RowSum {
	f, power := uint32(1), uint32(sumFactor)
	for n := o.n; n > 0; n >>= 1 {
		if n&1 == 1 {
			f *= power
		}
		power *= power
	}
	return RowSum{s.n + o.n, s.sum*f + o.sum}
}

// readRecord describes rows that were read.
type readRecord struct {
	from     int64
	sum      RowSum
	position *value.Object // after the rows
}

func (r *readRecord) end() int64 { return r.from + r.sum.n }

type readerKey struct {
	frame int64
	node  int32
}

// readerState is what is known of a stream from the answers to the reads.
type readerState struct {
	start
	records []*readRecord
}

// start is where a stream is read again: at the position, if there is one, or else at its beginning.
type start struct {
	skipped  RowSum        // all rows that are not needed any more
	position *value.Object // the last one that was recorded among them; most reads have none
	after    RowSum        // the rows after the position
}

// pass moves the start behind a read.
func (s *start) pass(r *readRecord) {
	s.skipped = s.skipped.then(r.sum)
	if r.position != nil {
		s.position, s.after = r.position, RowSum{}
	} else {
		s.after = s.after.then(r.sum)
	}
}

// Reader is a pipeline or fan-out that reads a stream and has not ended. To continue, a driver opens
// the stream at its beginning, skipping From elements whose checksum is Skipped, or, if there is a
// Position, there, skipping elements whose checksum is After. It gives the next Rows.Len elements to Replay.Fill.
type Reader struct {
	ID   machine.ID // of the next read; Frame and Node identify the reader
	Path string     // of the frame
	// Plan and Node belong to the commands that read the stream. Call is the input of such a
	// command, with Taken set to From.
	Plan *plan.Plan
	Node *plan.Node
	Call *machine.Call
	// From is the number of the first element that is still needed, or else of the next one.
	From     int64
	Position *value.Object
	Skipped  RowSum
	// After is the checksum of the elements between Position and From; it is RowSum{} if there is no
	// position.
	After RowSum
	// Rows is the checksum of the elements from From on that were read before.
	Rows RowSum
	// Continues reports whether the stream is read on after these. Otherwise its end was reached.
	Continues bool
}

// note adds what an answer says about the rows that it has read.
func (r *Replay) note(id machine.ID, read *readRecord) {
	key := readerKey{id.Frame, id.Node}
	s := r.readers[key]
	if s == nil {
		s = &readerState{}
		r.readers[key] = s
	}
	first, unread := r.m.FirstUnread(id)
	for len(s.records) > 0 && (!unread || s.records[0].end() <= first) {
		s.pass(s.records[0])
		s.records = s.records[1:]
	}
	s.records = append(s.records, read)
}

// Readers returns the pipelines and fan-outs that still need elements of their streams, in canonical
// order.
func (r *Replay) Readers() []Reader {
	var list []Reader
	for _, u := range r.m.Unread() {
		x := Reader{ID: u.ID, Path: u.Path, Plan: u.Plan, Node: u.Node, Call: u.Call, Continues: u.Continues}
		s := r.readers[readerKey{u.ID.Frame, u.ID.Node}]
		if s == nil {
			s = &readerState{}
		}
		from := s.start
		for _, record := range s.records {
			if u.From < 0 || record.end() <= u.From {
				from.pass(record)
			} else {
				x.Rows = x.Rows.then(record.sum)
			}
		}
		if x.Skipped, x.Position = from.skipped, from.position; x.Position != nil {
			x.After = from.after
		}
		x.From = x.Skipped.n
		x.Call.Taken = int(x.From)
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b Reader) int { return r.m.Compare(a.ID, b.ID) })
	return list
}

// Fill gives the machine the elements of a stream that it still needs, from x.From on. The error is
// a *core.SourceChangedError if they are not the rows that the run has read.
func (r *Replay) Fill(x *Reader, rows []any) error {
	var sum RowSum
	for _, row := range rows {
		if err := sum.Add(row); err != nil {
			return err
		}
	}
	if sum != x.Rows {
		return x.Changed()
	}
	r.m.Fill(x.ID, x.From, rows)
	return nil
}

// Changed returns the error for a stream that has other rows than the run has read.
func (x *Reader) Changed() error {
	name := x.Plan.Nodes[x.ID.Node].ID
	if x.Path != "" {
		name = x.Path + "/" + name
	}
	return &core.SourceChangedError{Node: name, Source: x.source(), Reason: "the rows that were read are others"}
}

// source returns the name of the source of the stream, such as a file. A stream whose description
// has no source is named by its field and the node that makes it.
func (x *Reader) source() string {
	r := &x.Node.Streams()[0]
	if at := slices.IndexFunc(x.Node.Reads, func(read plan.Read) bool { return read.Field == r.Field }); at >= 0 {
		if described, ok := x.Call.Values[at].(*value.Object); ok {
			if name, ok := described.Get("source"); ok {
				if name, ok := name.(string); ok {
					return name
				}
			}
		}
	}
	return fmt.Sprintf("the stream %q of node %s", x.Plan.Schema.Fields[r.Field].Name, x.Plan.Nodes[r.Maker].ID)
}
