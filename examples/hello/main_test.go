package main

import "os"

func Example() {
	os.Args = []string{"hello"}
	main()
	// Output:
	// hello Ada
}
