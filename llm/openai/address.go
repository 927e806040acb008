package openai

import (
	"net/url"
	"strings"
)

// redactAddress returns the address of a server without user, password, query and fragment, and the
// removed values, which must be masked. base is the parsed address, nil if it cannot be
// parsed.
func redactAddress(address string, base *url.URL) (text string, secrets []string) {
	if base == nil || base.Host == "" {
		return redactText(address), nil
	}
	if base.User != nil {
		password, _ := base.User.Password()
		secrets = append(secrets, password, base.User.Username())
	}
	for _, values := range base.Query() {
		secrets = append(secrets, values...)
	}
	if base.User == nil && base.RawQuery == "" && !base.ForceQuery && base.Fragment == "" {
		return address, nil
	}
	plain := *base
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	return plain.String(), secrets
}

// redactText returns the part to show of an address that is not a valid URL.
func redactText(address string) string {
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

// minSecretLen is the minimum length of a value that is masked in messages of the server:
// shorter values occur inside ordinary words.
const minSecretLen = 4

// mask hides the key, and values of the address that may be keys, in a message of the
// server, because servers repeat them.
func (m *Model) mask(s string) string {
	if len(m.o.Key) >= minSecretLen {
		s = strings.ReplaceAll(s, m.o.Key, "[the key]")
	}
	for _, h := range m.secrets {
		if len(h) >= minSecretLen {
			s = strings.ReplaceAll(s, h, "[hidden]")
		}
	}
	return s
}
