package openai

import (
	"net/url"
	"strings"
)

// shown returns the address of a server without user, password, query and fragment, and the
// removed values, which must be masked. base is the parsed address, nil if it cannot be
// parsed.
func shown(address string, base *url.URL) (text string, hidden []string) {
	if base == nil || base.Host == "" {
		return shownText(address), nil
	}
	if base.User != nil {
		password, _ := base.User.Password()
		hidden = append(hidden, password, base.User.Username())
	}
	for _, values := range base.Query() {
		hidden = append(hidden, values...)
	}
	if base.User == nil && base.RawQuery == "" && !base.ForceQuery && base.Fragment == "" {
		return address, nil
	}
	plain := *base
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	return plain.String(), hidden
}

// shownText returns the part to show of an address that is not a valid URL.
func shownText(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	} else {
		scheme += "://"
	}
	at, query := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	switch {
	case at >= 0 && query >= 0 && query < at:
		return scheme + "…" // the end of the password is ambiguous
	case query >= 0:
		rest = rest[:query]
	}
	return scheme + rest[at+1:]
}

// shortestHidden is the minimum length of a value that is masked in messages of the server:
// shorter values occur inside ordinary words.
const shortestHidden = 4

// concealed masks the key, and values of the address that may be keys, in a message of the
// server, because servers repeat them.
func (m *Model) concealed(s string) string {
	if len(m.o.Key) >= shortestHidden {
		s = strings.ReplaceAll(s, m.o.Key, "[the key]")
	}
	for _, h := range m.hidden {
		if len(h) >= shortestHidden {
			s = strings.ReplaceAll(s, h, "[hidden]")
		}
	}
	return s
}
