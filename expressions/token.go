package expressions

// tokenKind says what a token is.
type tokenKind uint8

const (
	tokEnd     tokenKind = iota // the end of the text
	tokBad                      // something the language does not have; the scanner holds the error
	tokNumber                   // 12, 0.5, 1e3
	tokText                     // 'a' or "a", quotes included
	tokWord                     // letters, digits and underscores, not starting with a digit
	tokRoot                     // $ or $name
	tokOp                       // an operator made of signs; token.op says which
	tokNot                      // !
	tokOpen                     // (
	tokClose                    // )
	tokBracket                  // [ or ] outside of a path
	tokDot                      // . outside of a path
	tokComma                    // ,
)

// token is a piece of the text.
type token struct {
	kind       tokenKind
	op         Op // of tokOp
	start, end int
}

// isSpace reports whether c may stand between two tokens.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// isName reports whether c may be part of a name in a path.
func isName(c byte) bool { return isLetter(c) || isDigit(c) }

// isPlainName reports whether a name needs no ['...'] in a path.
func isPlainName(s string) bool {
	for i := range len(s) {
		if !isName(s[i]) {
			return false
		}
	}
	return s != ""
}
