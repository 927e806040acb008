// Package llm is how wavefold talks to language models: the contract Model, and what every
// backend needs around it: retries, limits, prices, choosing one of several edges,
// answers in the form of a JSON Schema. Backends are packages of their own, such as
// llm/openai; llm/llmtest has a model that answers from a script and a fake server.
//
// An answer is data. It can fill a schema, pick one of the choices it was offered, or ask
// for a tool that it was offered; nothing else comes of it.
package llm
