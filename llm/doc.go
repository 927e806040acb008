// Package llm connects wavefold to language models. It defines the contract Model and what
// every backend needs: retries, limits, prices, the choice of one of several edges, and
// answers that conform to a JSON Schema. Each backend is a separate package, such as
// llm/openai; llm/llmtest provides a model that answers from a script, and a fake server.
//
// An answer is data. It can fill a schema, pick one of the choices that were offered, or
// request a tool that was offered; it has no other effect.
package llm
