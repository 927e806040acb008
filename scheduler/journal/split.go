package journal

import (
	"bytes"
	"errors"
)

var errSplit = errors.New("it is not a JSON object")

// eachMember calls f with the members of a JSON object. It finds where the values end, and does not check them: a journal
// has many small records, and few readers need all of a large one. An error of f ends the call.
func eachMember(data []byte, f func(key string, v []byte) error) error {
	data = bytes.TrimSpace(data)
	if len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return errSplit
	}
	for rest := bytes.TrimSpace(data[1 : len(data)-1]); len(rest) > 0; {
		colon := endOfValue(rest)
		key := bytes.TrimSpace(rest[:max(colon, 0)])
		if len(key) < 2 || key[0] != '"' || colon == len(rest) || rest[colon] != ':' {
			return errSplit
		}
		rest = rest[colon+1:]
		end := endOfValue(rest)
		if end < 0 || end < len(rest) && rest[end] != ',' {
			return errSplit
		}
		if err := f(string(key[1:len(key)-1]), bytes.TrimSpace(rest[:end])); err != nil {
			return err
		}
		rest = bytes.TrimSpace(rest[min(end+1, len(rest)):])
	}
	return nil
}

// endOfValue returns where the first value of the data ends: at a comma or a colon, or at the end of the data. It returns
// -1 if it does not end.
func endOfValue(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = endOfString(data, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	if depth != 0 {
		return -1
	}
	return len(data)
}

// endOfString returns the place of the last quote of the string that begins at i, -1 if there is none.
func endOfString(data []byte, i int) int {
	quote := i
	for i++; i < len(data); {
		if quote < i {
			next := bytes.IndexByte(data[i:], '"')
			if next < 0 {
				return -1
			}
			quote = i + next
		}
		escape := bytes.IndexByte(data[i:quote], '\\')
		if escape < 0 {
			return quote
		}
		i += escape + 2 // the character after it is part of the string
	}
	return -1
}
