// Hello is the smallest graph: one function between two fields.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wavefold/wavefold"
)

func main() {
	name, greeting := wavefold.NewField[string]("name"), wavefold.NewField[string]("greeting")
	g := wavefold.New("hello", wavefold.Map("greet", name, greeting, greet))

	who := "Ada"
	if len(os.Args) > 1 {
		who = os.Args[1]
	}
	r, err := g.Run(context.Background(), name.Is(who))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(greeting.Get(r))
}

func greet(_ context.Context, name string) (string, error) { return "hello " + name, nil }
