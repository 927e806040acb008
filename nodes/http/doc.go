// Package http implements the node kind "http", which sends a request and stores the response,
// page by page if the server returns pages.
//
// # Fields
//
//	url        required  the URL, a template; values in it are escaped
//	method     GET       GET, HEAD, POST, PUT, PATCH or DELETE
//	query                further query parameters: {name: template} or
//	                     {name: {secret: VARIABLE}}
//	headers              the same for headers
//	auth                 {bearer: {secret: VARIABLE}}, or
//	                     {basic: {user: …, password: {secret: VARIABLE}}}
//	body                 the string to send, a template; the word args alone sends
//	                     the node's args as JSON
//	output     json      the form of the response: json, jsonl, lines, text or none
//	rows                 the path of the value in a JSON response, such as data.items
//	pages                how the next page is found, see below
//	save                 the file to store the response in, instead of the state
//	into                 the field that gets the value; without one, the only
//	                     declared write; else it goes along the outgoing edges
//	stream     false     make the field a stream: pages are fetched as they are
//	                     read
//	ok                   statuses that mean success, in addition to 200 to 299
//	per_second           limit on the requests that start in a second, over pages,
//	                     attempts, redirects and items; fractions are allowed
//	idle_timeout  60s    the time without a byte after which the attempt fails
//	max_body   50MB      limit on the body of one response, decompressed; 1GB with save
//
// # Values
//
// A value in the path of url, in its query part or under query cannot add a
// path, a parameter or a host: it is escaped for its place. A value that makes "."
// or ".." a segment of the path is an error. If the whole URL is a value, write
// url: "{{$.next_url}}"; it is used unchanged. Values in headers must not contain
// line ends.
//
// # Pages
//
//	pages: {by: number, param: page, from: 1}        1, 2, 3 … until a page is empty
//	pages: {by: offset, param: offset, size: 100}    0, 100, 200 … until a page is short
//	pages: {by: cursor, param: after, next: meta.next}   the response has the next cursor
//	pages: {by: link, next: links.next}              the response has the next URL
//	pages: {by: link}                                the header Link: <…>; rel="next"
//
// rows is the path of the rows in each page; the field gets the rows of all pages as one array.
// More than max (1000) pages are an error. A page with the same rows as the previous page is an
// error too, because the server probably ignores the parameter; repeat: end drops the page and
// ends there, repeat: keep keeps it and continues. If the page numbers are known, a node with
// for_each over the numbers and the item under query fetches pages concurrently.
//
// # Failures
//
// The statuses 408, 425, 429 and 5xx and broken connections may be temporary: the node's on_error
// policy retries them. A retry waits for Retry-After, unless that is more than an hour. Other
// statuses, responses of another form than output and untrusted certificates are permanent
// failures. An attempt without traffic for idle_timeout fails with a timeout; the node's timeout
// limits the whole attempt. With per_second, Retry-After delays all requests of the node.
//
// Redirects are followed, except from https to http, and except 301 and 302 after a method other
// than GET and HEAD, which would turn into a GET without a body. A redirect whose status is in ok
// is the response. Another host gets only the headers Accept, Accept-Language, Content-Type,
// Range and User-Agent and, after 307 and 308, the body. The header Referer is sent only if
// headers sets it.
//
// POST, PATCH and PUT requests have the header Idempotency-Key, unless headers sets it. The key is the
// same in every attempt of a visit. Secrets are read from the engine's environment for each
// attempt, never stored, and replaced by *** in errors.
//
// # Result
//
// If a field gets the value, the node sends {status, rows, pages} along its edges; rows is absent
// if the value is not a list. With save, the node sends {status, path, bytes}.
//
// # Example
//
//	name: issues
//	state:
//	  schema:
//	    issues: {type: array}
//	graph:
//	  nodes:
//	    - id: fetch
//	      kind: http
//	      url: https://api.github.com/repos/golang/go/issues
//	      query: {state: open, per_page: "100"}
//	      headers: {Accept: application/vnd.github+json}
//	      auth: {bearer: {secret: GITHUB_TOKEN}}
//	      pages: {by: link, max: 5}
//	      writes: [issues]
//	      on_error: {policy: retry, attempts: 4, backoff: exponential, base_ms: 500}
package http
