package expressions

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokEnd     tokenKind = iota // the end of the expression
	tokBad                      // not a token of the language; the scanner holds the error
	tokNumber                   // 12, 0.5, 1e3
	tokString                   // 'a' or "a", including the quotes
	tokWord                     // letters, digits and underscores, not starting with a digit
	tokRoot                     // $ or $name
	tokOp                       // an operator made of punctuation; token.op holds it
	tokNot                      // !
	tokOpen                     // (
	tokClose                    // )
	tokBracket                  // [ or ] outside a path
	tokDot                      // . outside a path
	tokComma                    // ,
)

// token is a token of an expression.
type token struct {
	kind       tokenKind
	op         Op // for tokOp
	start, end int
}

// isSpace reports whether c is white space.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// isName reports whether c may be part of a name in a path.
func isName(c byte) bool { return isLetter(c) || isDigit(c) }

// isPlainName reports whether a name can be written in a path without ['...'].
func isPlainName(s string) bool {
	for i := range len(s) {
		if !isName(s[i]) {
			return false
		}
	}
	return s != ""
}
