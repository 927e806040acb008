// Ops is the wavefold command extended with the functions of this program: it validates,
// draws, runs and tests documents that use them.
package main

import (
	"log"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/examples/embed/pricing"
	"github.com/wavefold/wavefold/nodes/std"
)

func main() {
	e := wavefold.NewEngine(std.Kinds()...)
	if err := pricing.Register(e); err != nil {
		log.Fatal(err)
	}
	cli.Main(e)
}
