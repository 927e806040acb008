package scheduler

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/store"
)

const (

	// printedHead and printedTail limit the bytes that are kept from the beginning and from the end
	// of a stream of an attempt. maxPrinted limits the bytes that are kept from all attempts of a
	// process.
	printedHead = 960 << 10
	printedTail = 64 << 10
	maxPrinted  = 256 << 20
)

// outputs keeps what the programs of a stored run print.
type outputs struct {
	run      string
	to       store.Attacher
	mask     func() secret.Masker
	keptSize atomic.Int64 // bytes kept by this process

	// earlier is what earlier processes have kept of each node of which this process has begun an
	// attempt, by the place in its name. It is nil if there were none.
	mu      sync.Mutex
	earlier map[string]map[string][]Printed
}

// newOutputs returns what keeps the output of a run. resumed reports whether there were earlier processes.
func newOutputs(run string, to store.Attacher, mask func() secret.Masker, resumed bool) *outputs {
	o := &outputs{run: run, to: to, mask: mask}
	if resumed {
		o.earlier = map[string]map[string][]Printed{}
	}
	return o
}

// placeOf returns the beginning of the names of what an execution prints: "[3]#1." for item 3 in round 1.
func placeOf(in core.Input) string {
	place := strings.TrimPrefix(in.IdempotencyKey(), in.Run()+"/"+in.Node())
	if place != "" {
		place += "."
	}
	return place
}

// writer implements core.Durability.Output. The attachment is in the folder of its node and has, for
// the second attempt of item 3 in round 1, the name "[3]#1.2.stdout".
func (o *outputs) writer(in core.Input, stream string) io.WriteCloser {
	place := placeOf(in)
	if o.earlier != nil {
		o.forget(in, place)
	}
	p := &printed{outputs: o, name: store.OutputFolder + "/" + in.Node() + "/" + place + strconv.Itoa(in.Attempt()) + "." + stream}
	p.masked = secret.NewStream(o.mask(), &p.limited)
	p.limited.p = p
	return p
}

// forget removes what earlier processes have kept of an attempt that begins and of those after it: the
// attempts of an execution that runs again have the same numbers.
func (o *outputs) forget(in core.Input, place string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	places := o.earlier[in.Node()]
	if places == nil {
		places = map[string][]Printed{}
		o.earlier[in.Node()] = places
		list, _ := PrintedBy(o.to, o.run, in.Node())
		for _, p := range list {
			places[p.place] = append(places[p.place], p)
		}
	}
	for _, p := range places[place] {
		if p.Attempt >= in.Attempt() {
			_ = o.to.Detach(o.run, p.name)
		}
	}
	delete(places, place)
}

// room reports whether n further bytes are kept, and counts them.
func (o *outputs) room(n int) bool {
	if o.keptSize.Add(int64(n)) <= maxPrinted {
		return true
	}
	o.keptSize.Add(int64(-n))
	return false
}

// printed keeps a stream of an attempt. It may be incomplete, so after an error of the store printed
// only stops.
type printed struct {
	outputs *outputs
	name    string
	masked  *secret.Stream
	limited limitedOutput
	file    io.WriteCloser // nil before the first byte
	err     error
}

// Write never fails.
func (p *printed) Write(b []byte) (int, error) {
	_, _ = p.masked.Write(b)
	return len(b), nil
}

// Close writes the end of the stream.
func (p *printed) Close() error {
	_ = p.masked.Flush()
	p.limited.end()
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// put writes to the attachment.
func (p *printed) put(b []byte) {
	if p.err != nil || len(b) == 0 {
		return
	}
	if p.file == nil {
		if p.file, p.err = p.outputs.to.Attach(p.outputs.run, p.name); p.err != nil {
			p.file = nil
			return
		}
	}
	_, p.err = p.file.Write(b)
}

// limitedOutput keeps the beginning and the end of what is written to it.
type limitedOutput struct {
	p    *printed
	head int    // bytes that were put
	tail []byte // the end of the rest
	rest int64  // the number of bytes of the rest
}

// Write never fails.
func (l *limitedOutput) Write(b []byte) (int, error) {
	n := min(len(b), printedHead-l.head)
	if !l.p.outputs.room(n) {
		n = 0
		l.head = printedHead // later bytes must not replace it
	}
	l.head += n
	l.p.put(b[:n])
	rest := b[n:]
	l.rest += int64(len(rest))
	l.tail = append(l.tail, rest[max(0, len(rest)-printedTail):]...)
	if len(l.tail) > 2*printedTail {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-printedTail:]...)
	}
	return len(b), nil
}

// end puts the end of the stream, after a line that says how much was left out before it.
func (l *limitedOutput) end() {
	tail := l.tail[max(0, len(l.tail)-printedTail):]
	if !l.p.outputs.room(len(tail)) {
		tail = nil
	}
	if left := l.rest - int64(len(tail)); left > 0 {
		l.p.put(fmt.Appendf(nil, "\n[wavefold: %d bytes were left out]\n", left))
	}
	l.p.put(tail)
}

// Printed is what the program of an attempt printed to a stream, as a store has it.
type Printed struct {
	Node string // its path
	Item core.Ordinal
	// Rounds are the round of a loop and the visit of a walk, as far as the node has them.
	Rounds     []int
	Generation int // 0 or, if a resumed run has run the node again, 2 or more
	Attempt    int
	Stream     string // "stdout" or "stderr"

	name  string // of the attachment
	place string // see placeOf
}

var outputNames = lazyregexp.New(`^(?:\[(\d+)\])?((?:#\d+)*)(?:~(\d+))?\.?(\d+)\.(stdout|stderr)$`)

// PrintedBy lists what the programs of a node printed in a run, by item, then from the first to the
// last. node is the path of the node.
func PrintedBy(s store.Attacher, run, node string) ([]Printed, error) {
	folder := store.OutputFolder + "/" + node
	names, err := s.Attachments(run, folder)
	if err != nil {
		return nil, err
	}
	var list []Printed
	for _, name := range names {
		m := outputNames.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		p := Printed{Node: node, Stream: m[5], name: folder + "/" + name, place: strings.TrimSuffix(name, m[4]+"."+m[5])}
		p.Generation, _ = strconv.Atoi(m[3])
		p.Attempt, _ = strconv.Atoi(m[4])
		if i, err := strconv.Atoi(m[1]); err == nil {
			p.Item = core.Nth(i)
		}
		for text := range strings.SplitSeq(strings.TrimPrefix(m[2], "#"), "#") {
			if n, err := strconv.Atoi(text); err == nil {
				p.Rounds = append(p.Rounds, n)
			}
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Printed) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Generation, b.Generation), slices.Compare(a.Rounds, b.Rounds),
			cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Stream, b.Stream))
	})
	return list, nil
}

// Open opens what was printed. The caller closes it.
func (p *Printed) Open(s store.Attacher, run string) (io.ReadCloser, error) {
	return s.Attached(run, p.name)
}
