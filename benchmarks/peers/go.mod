module github.com/wavefold/wavefold/benchmarks/peers

go 1.26.0

require (
	github.com/noneback/go-taskflow v1.2.0
	github.com/wavefold/wavefold v0.0.0
)

require (
	github.com/ohler55/ojg v1.28.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/wavefold/wavefold => ../..
