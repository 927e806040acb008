package dot

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// rewriter builds a string from another one by replacing parts of it. It records the
// position of each part in the document.
type rewriter struct {
	src      source.Text
	written  []source.Segment // of src
	next     int              // index of the first segment after done
	done     int              // number of bytes of src that have been handled
	out      strings.Builder
	segments []source.Segment // of out; nil if nothing has been replaced
	bad      int              // number of invalid placeholders
	literal  bool             // the result is not a template: braces have no special meaning
}

func newRewriter(t source.Text) *rewriter {
	list := source.Segments(t)
	t.Pos = t.Pos.Written(list) // so that source.Inside does not scan the string again
	return &rewriter{src: t, written: list}
}

// replace replaces the part of the source between two offsets. In a template, the
// replacement must not form a placeholder together with a brace just before it.
func (r *rewriter) replace(from, to int, with string) {
	if !r.literal && from > r.done && r.src.Value[from-1] == '{' && strings.HasPrefix(with, "{{") {
		from, with = from-1, literalBrace+with
	}
	r.copy(from)
	pos := source.Inside(r.src, from)
	r.segments = append(r.segments, source.Segment{Offset: int32(r.out.Len()), Line: pos.Line, Column: pos.Column})
	r.out.WriteString(with)
	r.done = to
}

// copy copies the source up to an offset.
func (r *rewriter) copy(to int) {
	if r.done >= to {
		return
	}
	shift := int32(r.out.Len() - r.done)
	start := source.Inside(r.src, r.done)
	r.segments = append(r.segments, source.Segment{Offset: int32(r.out.Len()), Line: start.Line, Column: start.Column})
	for ; r.next < len(r.written) && int(r.written[r.next].Offset) <= to; r.next++ {
		if s := r.written[r.next]; int(s.Offset) > r.done {
			r.segments = append(r.segments, source.Segment{Offset: s.Offset + shift, Line: s.Line, Column: s.Column})
		}
	}
	r.out.WriteString(r.src.Value[r.done:to])
	r.done = to
}

func (r *rewriter) text() source.Text {
	if r.segments == nil {
		return r.src
	}
	r.copy(len(r.src.Value))
	return source.At(r.out.String(), source.Inside(r.src, 0).Written(r.segments))
}
