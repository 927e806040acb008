package dot

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// rewriter puts a text together from parts of another one and texts in their place,
// and keeps track of where each part stands in the document.
type rewriter struct {
	src      core.Text
	written  []core.Segment // of src
	next     int            // the first of them that begins behind done
	done     int            // how much of src is in out
	out      strings.Builder
	segments []core.Segment // of out; nil as long as nothing is replaced
	bad      int            // places that can be none
	literal  bool           // the result is no template: braces have no meaning in it
}

func newRewriter(t core.Text) *rewriter {
	list := core.Segments(t)
	t.Pos = t.Pos.Written(list) // so that finding a place does not read the text again
	return &rewriter{src: t, written: list}
}

// replace writes with in place of the source between two offsets. In a template, a brace
// just before it must not open a place together with it.
func (r *rewriter) replace(from, to int, with string) {
	if !r.literal && from > r.done && r.src.Value[from-1] == '{' && strings.HasPrefix(with, "{{") {
		from, with = from-1, literalBrace+with
	}
	r.copy(from)
	pos := core.Inside(r.src, from)
	r.segments = append(r.segments, core.Segment{Offset: int32(r.out.Len()), Line: pos.Line, Column: pos.Column})
	r.out.WriteString(with)
	r.done = to
}

// copy takes over what stands up to an offset.
func (r *rewriter) copy(to int) {
	if r.done >= to {
		return
	}
	shift := int32(r.out.Len() - r.done)
	start := core.Inside(r.src, r.done)
	r.segments = append(r.segments, core.Segment{Offset: int32(r.out.Len()), Line: start.Line, Column: start.Column})
	for ; r.next < len(r.written) && int(r.written[r.next].Offset) <= to; r.next++ {
		if s := r.written[r.next]; int(s.Offset) > r.done {
			r.segments = append(r.segments, core.Segment{Offset: s.Offset + shift, Line: s.Line, Column: s.Column})
		}
	}
	r.out.WriteString(r.src.Value[r.done:to])
	r.done = to
}

func (r *rewriter) text() core.Text {
	if r.segments == nil {
		return r.src
	}
	r.copy(len(r.src.Value))
	return core.At(r.out.String(), core.Inside(r.src, 0).Written(r.segments))
}
