// Command wavefold runs parallel workflows with typed state.
//
// It is the engine with the standard node kinds. To have the same command with
// kinds or Go functions of your own, copy this file and add them to the engine.
package main

import (
	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
)

func main() {
	cli.Main(wavefold.NewEngine(std.Kinds()...))
}
