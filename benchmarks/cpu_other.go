//go:build !unix

package benchmarks

import "time"

func processTime() time.Duration { return 0 }
