// Command wavefold runs parallel workflows with typed state.
//
// It is the engine with the standard node kinds and the model that the environment
// describes (docs/models.md). To have the same command with kinds, Go functions or a model
// of your own, copy this file and change the engine.
package main

import (
	"os"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/openai"
	"github.com/wavefold/wavefold/nodes/std"
)

func main() { cli.Main(engine(os.LookupEnv)) }

func engine(lookup func(string) (string, bool)) *wavefold.Engine {
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(llm.WithEnv(openai.FromEnv(lookup), lookup))
	return e
}
