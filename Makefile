# wavefold: run `make help` for the list.

GO ?= go
TESTFLAGS ?=
FUZZTIME ?= 10s
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help run test bench figures bench-data bench-etl fuzz mutants torture lint

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

run: ## run the flights example on 10,000 real flights
	$(GO) run ./cmd/wavefold run examples/flights/flights.yaml

test: ## run all tests
	$(GO) test $(TESTFLAGS) ./...

bench: ## run the benchmarks of docs/performance.md
	$(GO) test -run XXX -bench . ./benchmarks

figures: ## measure the tables of docs/performance.md and README.md again
	cd benchmarks/peers && UPDATE=1 $(GO) test -count=1 -v -run TestFigures .
	UPDATE=1 $(GO) test -count=1 -v -timeout 20m -run 'TestFigures|TestReadmeAgrees' ./benchmarks

bench-data: ## fetch the 3,000,000 flights (13 MB, from the npm registry)
	$(GO) run ./examples/flights-3m/fetch

bench-etl: bench-data ## run the scale job, compare it with a loop written by hand
	WAVEFOLD_SCALE=1 $(GO) test -count=1 -v -run 'TestScale|TestSameAsByHand' ./examples/flights-3m

fuzz: ## fuzz every parser for FUZZTIME each
	@./.ci/fuzz $(FUZZTIME)

mutants: ## change the source in one place at a time: a test must fail
	WAVEFOLD_MUTANTS=1 $(GO) test -count=1 -v -timeout 60m -run TestMutants ./corpus ./scheduler/internal/schedulertest ./scheduler/machine

torture: ## kill runs after every record and at 500 instants, and simulate 100,000 seeds: hours
	WAVEFOLD_TORTURE=all $(GO) test -count=1 -v -timeout 12h ./internal/torture
	WAVEFOLD_SEEDS=100000 $(GO) test -count=1 -v -timeout 12h -run TestSimulation ./scheduler/internal/schedulertest

lint: ## gofmt, vet, staticcheck and the house rules
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test ./internal/house
