// Package http is the node kind "http": it sends a request and stores what comes
// back, page by page where the server gives pages.
//
// # Fields
//
//	url        required  the address, a template; values in it are escaped
//	method     GET       GET, HEAD, POST, PUT, PATCH or DELETE
//	query                further query parameters: {name: template} or
//	                     {name: {secret: VARIABLE}}
//	headers              the same for headers
//	auth                 {bearer: {secret: VARIABLE}}, or
//	                     {basic: {user: …, password: {secret: VARIABLE}}}
//	body                 the text to send, a template; the word args alone sends
//	                     the node's args as JSON
//	output     json      what the answer is: json, jsonl, lines, text or none
//	rows                 where in a JSON answer the value is, such as data.items
//	pages                how the next page is found, see below
//	save                 the file to store the answer in, instead of the state
//	into                 the field that gets the value; without one, the only
//	                     declared write; else it goes along the outgoing edges
//	stream     false     make the field a stream: pages are fetched as they are
//	                     read
//	ok                   statuses that are no failure besides 200 to 299
//	per_second           how many requests may start in a second, over pages,
//	                     attempts, redirects and items; fractions are allowed
//	idle_timeout  60s    how long no byte may come before the attempt fails
//	max_body   50MB      limit on the body of one answer, unpacked; 1GB with save
//
// # Values
//
// A value in the path of url, in its query part or under query cannot add a
// path, a parameter or a host: it is escaped for its place, and one that makes "."
// or ".." a whole segment of the path is an error. Where the whole
// address is a value, write url: "{{$.next_url}}"; it is taken as it is. Values in
// headers must not hold line ends.
//
// # Pages
//
//	pages: {by: number, param: page, from: 1}        1, 2, 3 … until a page is empty
//	pages: {by: offset, param: offset, size: 100}    0, 100, 200 … until a page is short
//	pages: {by: cursor, param: after, next: meta.next}   the answer names the next one
//	pages: {by: link, next: links.next}              the answer holds its address
//	pages: {by: link}                                the header Link: <…>; rel="next"
//
// rows says where each page's rows are; the field gets all of them as one array.
// max (1000) ends a server that never runs out of pages, with an error. So does a page
// with the rows of the one before, as from a server that does not know the parameter;
// repeat: end drops it and ends there, repeat: keep takes both and goes on. Pages
// whose numbers are known can be fetched side by side instead, by a node with
// for_each over them and the item under query.
//
// # Failures
//
// Answers 408, 425, 429 and 5xx and broken connections may pass, so the node's
// on_error policy tries again, not before Retry-After has passed, unless that is
// more than an hour. Other statuses, answers that are not what output says, and
// certificates that are not to be trusted fail for good. An attempt in which no byte
// moves for idle_timeout fails as a timeout; set timeout on the node to bound the whole
// attempt. With per_second, Retry-After holds back all requests of the node.
//
// Redirects are followed, except from https to http, and except with 301, 302 after a
// method other than GET and HEAD, which would become a GET without a body. A redirect
// whose status is in ok is taken as the answer. To another host go only the headers
// Accept, Accept-Language, Content-Type, Range and User-Agent, and, after 307 and 308,
// the body; the header Referer is sent only if headers sets it.
//
// POST and PATCH carry the header Idempotency-Key, which is the same in every
// attempt of one piece of work, unless headers says otherwise. Secrets are read
// from the engine's environment for each attempt, never stored, and replaced by
// *** in errors.
//
// # Result
//
// The node sends {status, rows, pages} along its edges when a field gets the
// value; rows only where it is a list. A saved file is reported as {status, path,
// bytes}.
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
