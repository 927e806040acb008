package plan

import "github.com/wavefold/wavefold/core/value"

// maxListed is the number of writers up to which a fingerprint lists the writers that a part sees. Of more it
// has their number and a digest of all of them: otherwise, a plan in which each of n nodes reads and writes
// one field would take time proportional to n*n.
const maxListed = 64

// writersOf are the writers of a field of a plan.
type writersOf struct {
	plan  *Plan
	field int32
}

// reads returns what is read, as an object: the fields with the writers that are seen.
func (x *printer) reads(p *Plan, reads []Read) *value.Object {
	o := value.NewObject(len(reads))
	for _, r := range reads {
		seen := len(p.WriterVertex[r.Field])
		if !p.Mode.Visits {
			seen = min(seen, int(r.Threshold))
		}
		o.Set(p.Schema.Fields[r.Field].Name, x.firstWriters(p, r.Field, seen))
	}
	return o
}

// firstWriters returns the first n writers of a field, in canonical order.
func (x *printer) firstWriters(p *Plan, field int32, n int) any {
	writers := p.WriterVertex[field]
	if n <= maxListed {
		list := make([]any, n)
		for i, w := range writers[:n] {
			list[i] = p.Vertices[w].ID
		}
		return list
	}
	of := writersOf{p, field}
	sums := x.prefixes[of]
	for i := len(sums); i < n; i++ { // each sum covers the sum before it and the next writer
		before := ""
		if i > 0 {
			before = sums[i-1]
		}
		sums = append(sums, digest([]any{before, p.Vertices[writers[i]].ID}))
	}
	x.prefixes[of] = sums
	return value.ObjectOf("count", int64(n), "writers", sums[n-1])
}
