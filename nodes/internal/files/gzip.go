package files

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// DefaultRatio is the default limit of the ratio of expanded to compressed size. The
// text of tables reaches 5 to 50, data made to fill a disk 1000.
const DefaultRatio = 200

// ratioFrom is the expanded size from which the ratio is checked, in bytes. A small
// file may well repeat one line a thousand times.
const ratioFrom = 16 << 20

// Gunzip returns a reader of the expanded data of r, which consists of one or several
// gzip members. It is an error if the data expands to more than ratio times its size (0
// means DefaultRatio). The ratio is checked after 16 MB of expanded data.
func Gunzip(r io.Reader, ratio int) io.Reader {
	if ratio == 0 {
		ratio = DefaultRatio
	}
	return &gunzip{in: counter{r: r}, ratio: int64(ratio)}
}

type gunzip struct {
	in    counter
	head  *bufio.Reader // of in, because gzip reads byte by byte
	zip   *gzip.Reader
	out   int64
	ratio int64
	// signed reports whether the data begins with the gzip signature.
	signed bool
}

// Read reads expanded data.
func (g *gunzip) Read(p []byte) (int, error) {
	if g.zip == nil {
		g.head = bufio.NewReader(&g.in)
		sign, _ := g.head.Peek(2)
		g.signed = string(sign) == gzipSign
		zip, err := gzip.NewReader(g.head)
		if err != nil {
			if err == io.EOF && g.in.n == 0 {
				return 0, io.EOF // an empty file expands to an empty file
			}
			return 0, g.explain(err)
		}
		g.zip = zip
		zip.Multistream(false)
	}
	n, err := g.zip.Read(p)
	g.out += int64(n)
	switch {
	case err == io.EOF:
		if err = g.nextPart(); err != nil && err != io.EOF {
			err = g.explain(err)
		}
	case err != nil:
		err = g.explain(err)
	}
	if g.out > ratioFrom && g.out > g.ratio*g.in.n {
		return 0, fmt.Errorf("%d bytes of gzip data expand to more than %d times their size (max_ratio): raise it if that is meant", g.in.n, g.ratio)
	}
	return n, err
}

const gzipSign = "\x1f\x8b"

// nextPart moves to the next gzip member. It returns io.EOF at the end of the data.
func (g *gunzip) nextPart() error {
	sign, err := g.head.Peek(len(gzipSign))
	switch {
	case len(sign) == 0 && err == io.EOF:
		return io.EOF
	case err != nil && err != io.EOF:
		return err
	case string(sign) != gzipSign:
		return fmt.Errorf("the gzip data ends after %d bytes, and what follows it is not gzip data", g.in.n-int64(g.head.Buffered()))
	}
	if err := g.zip.Reset(g.head); err != nil {
		return err
	}
	g.zip.Multistream(false)
	return nil
}

// explain describes what is wrong with the data.
func (g *gunzip) explain(err error) error {
	_, damaged := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, gzip.ErrHeader), g.zip == nil && errors.Is(err, io.ErrUnexpectedEOF) && !g.signed:
		return fmt.Errorf("it is not compressed with gzip: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the gzip data is cut off after %d bytes: %w", g.in.n, err)
	case damaged, errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("the gzip data is damaged before byte %d: %w", g.in.n, err)
	}
	return err
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
