// Command fetch downloads the 3,000,000 flights of this example: one file of the npm
// package vega-datasets, 13 MB, verified by its checksum. It does nothing if the file
// exists.
//
//	go run ./examples/flights-3m/fetch
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const (
	address = "https://registry.npmjs.org/vega-datasets/-/vega-datasets-2.11.0.tgz"
	member  = "package/data/flights-3m.parquet"
	sum     = "756f1be82d0dbbb9acc77c3bdbcb9b994054a157ea09357a731395b6948ebf69"
	maxSize = 100 << 20
)

func main() {
	target := filepath.Join("examples", "flights-3m", "data", "flights-3m.parquet")
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	if err := fetch(target); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetch(target string) error {
	if data, err := os.ReadFile(target); err == nil && sumOf(data) == sum {
		fmt.Println(target, "is there")
		return nil
	}
	fmt.Println("fetching", address)
	client := http.Client{Timeout: 5 * time.Minute}
	res, err := client.Get(address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	data, err := extract(io.LimitReader(res.Body, maxSize))
	if err != nil {
		return err
	}
	if got := sumOf(data); got != sum {
		return fmt.Errorf("%s has the sum %s, want %s", member, got, sum)
	}
	return save(target, data)
}

func sumOf(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// extract returns the content of the file in the package.
func extract(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	files := tar.NewReader(z)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the package has no %s", member)
		}
		if err != nil {
			return nil, err
		}
		if h.Name == member {
			var b bytes.Buffer
			_, err := io.Copy(&b, io.LimitReader(files, maxSize))
			return b.Bytes(), err
		}
	}
}

// save writes the file atomically.
func save(target string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(target+".part", data, 0o644); err != nil {
		return err
	}
	if err := os.Rename(target+".part", target); err != nil {
		return err
	}
	fmt.Printf("%s, %d MB\n", target, len(data)>>20)
	return nil
}
