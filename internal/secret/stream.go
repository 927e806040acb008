package secret

import (
	"io"
	"strings"
)

// Stream masks secrets in what is written to it and passes the result to a writer. A secret may be
// split between two writes. It is for one goroutine.
type Stream struct {
	mask    Masker
	to      io.Writer
	first   [256][]string // the values of mask by their first byte
	pending []byte        // not passed on yet, because it may be the beginning of a secret
}

// NewStream returns a stream that writes to a writer.
func NewStream(m Masker, to io.Writer) *Stream {
	s := &Stream{mask: m, to: to}
	for _, v := range m.values {
		s.first[v[0]] = append(s.first[v[0]], v)
	}
	return s
}

// Write masks p. It returns len(p) unless the writer returns an error.
func (s *Stream) Write(p []byte) (int, error) {
	if s.mask.None() {
		return s.to.Write(p)
	}
	s.pending = append(s.pending, p...)
	text := string(s.pending)
	safe := s.safe(text)
	s.pending = append(s.pending[:0], text[safe:]...)
	return len(p), s.pass(text[:safe])
}

// Flush masks and writes the rest. It is called after the last Write.
func (s *Stream) Flush() error {
	rest := string(s.pending)
	s.pending = nil
	return s.pass(rest)
}

func (s *Stream) pass(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(s.to, s.mask.Text(text))
	return err
}

// safe returns the length of the part of the text that can be masked on its own: no secret, and no
// beginning of a secret that an ellipsis may follow, crosses its end.
func (s *Stream) safe(text string) int {
	end := len(text)
	for {
		at := s.crossing(text, end)
		if cut := strings.TrimRight(withoutDots(text[:end]), closingChars); len(cut) < end {
			if begin := s.crossing(cut, len(cut)); len(cut)-begin >= MinLength {
				at = min(at, begin)
			}
		}
		if at == end {
			return end
		}
		end = at
	}
}

// crossing returns the first place before end at which a secret may begin that ends after it, or end.
func (s *Stream) crossing(text string, end int) int {
	for at := max(0, end-s.mask.MaxLength()+1); at < end; at++ {
		for _, v := range s.first[text[at]] {
			if n := end - at; len(v) > n && v[:n] == text[at:end] {
				return at
			}
		}
	}
	return end
}

// withoutDots removes the beginning of an ellipsis at the end of the text.
func withoutDots(text string) string {
	for _, dots := range ellipses {
		for n := len(dots) - 1; n > 0; n-- {
			if strings.HasSuffix(text, dots[:n]) {
				return text[:len(text)-n]
			}
		}
	}
	return text
}
