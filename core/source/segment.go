package source

import (
	"slices"
	"strings"
)

// Segment is a part of a string whose bytes appear in the document consecutively, on one
// line: the byte at Offset of the string is at Line and Column. A new segment starts after
// each part that is written differently from its value: an escape, a doubled quote, the end
// of a line.
type Segment struct {
	Offset       int32
	Line, Column int32
}

// Written returns the position of a string that is written in segments, so that Inside
// finds the positions of its bytes. The segments are in order, and the first one has the
// offset 0. They are not copied.
func (p Position) Written(segments []Segment) Position {
	p.written = nil
	if len(segments) > 0 {
		p.written = &segments
	}
	return p
}

// Segments returns the segments that Written has set, nil if there are none. They must not be changed.
func (p Position) Segments() []Segment {
	if p.written == nil {
		return nil
	}
	return *p.written
}

// WithoutSegments returns the position without its segments, so that positions of the same
// place are equal.
func (p Position) WithoutSegments() Position {
	p.written = nil
	return p
}

// Inside returns the position of a byte of a string. For an offset beyond the string, it
// returns the position of its end. If the position does not record how the string was
// written, each line after the first is assumed to start in the column of the first. That
// is correct for a block of text in a document and for the content of a whole file.
func Inside(t Text, offset int) Position {
	offset = min(max(offset, 0), len(t.Value))
	if t.Pos.written != nil {
		s := segmentAt(*t.Pos.written, offset)
		return Position{File: t.Pos.File, Line: s.Line, Column: s.Column + int32(offset) - s.Offset}
	}
	before, pos := t.Value[:offset], t.Pos
	if lines := strings.Count(before, "\n"); lines > 0 && pos.IsValid() {
		pos.Line += int32(lines)
		before = before[strings.LastIndexByte(before, '\n')+1:]
	}
	return pos.Shift(len(before))
}

// segmentAt returns the last segment that begins at or before an offset.
func segmentAt(list []Segment, offset int) Segment {
	i, found := slices.BinarySearchFunc(list, offset, func(s Segment, offset int) int { return int(s.Offset) - offset })
	if !found {
		i--
	}
	return list[max(i, 0)]
}

// Cut returns the part of a string between two offsets, with its position.
func Cut(t Text, from, to int) Text {
	part := At(t.Value[from:to], Inside(t, from))
	if list := segments(t, from, to); len(list) > 1 {
		part.Pos = part.Pos.Written(list)
	}
	return part
}

// Segments returns the segments in which a string is written, at least one.
func Segments(t Text) []Segment { return segments(t, 0, len(t.Value)) }

func segments(t Text, from, to int) []Segment {
	start := Inside(t, from)
	list := []Segment{{0, start.Line, start.Column}}
	if t.Pos.written != nil {
		for _, s := range *t.Pos.written {
			if int(s.Offset) > from && int(s.Offset) <= to {
				list = append(list, Segment{s.Offset - int32(from), s.Line, s.Column})
			}
		}
		return list
	}
	for i := from; i < to && start.Column > 0; i++ {
		if t.Value[i] == '\n' {
			list = append(list, Segment{int32(i + 1 - from), start.Line + int32(len(list)), t.Pos.Column})
		}
	}
	return list
}
