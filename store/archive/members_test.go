package archive_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/archive"
	"github.com/wavefold/wavefold/store/memory"
)

type member struct {
	name string
	data []byte
}

// unpack returns the members of an archive, without the manifest.
func unpack(t *testing.T, data []byte) (m archive.Manifest, list []member) {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return m, list
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "manifest.json" {
			list = append(list, member{h.Name, content})
		} else if err := json.Unmarshal(content, &m); err != nil {
			t.Fatal(err)
		}
	}
}

// pack returns an archive with a manifest that lists the members as they are.
func pack(t *testing.T, m archive.Manifest, list []member) []byte {
	t.Helper()
	m.Members = nil
	for _, x := range list {
		sum := sha256.Sum256(x.data)
		m.Members = append(m.Members, archive.Member{Name: x.name, Bytes: int64(len(x.data)), SHA256: hex.EncodeToString(sum[:])})
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, manifest, list)
}

// packed is pack with a manifest as it is.
func packed(t *testing.T, manifest []byte, list []member) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, x := range append([]member{{"manifest.json", manifest}}, list...) {
		if err := w.WriteHeader(&tar.Header{Name: x.name, Size: int64(len(x.data)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(x.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestMembers: an archive whose manifest agrees with its members is still rejected if it has a member that no
// archive has, or lacks the blob of a result or of the document. Nothing of it is left out silently.
func TestMembers(t *testing.T) {
	a := memory.New(nil)
	sum, err := a.Put(t.Context(), []byte(blob))
	if err != nil {
		t.Fatal(err)
	}
	add(t, a, 1, 3, sum)
	m, list := unpack(t, write(t, a))
	for _, c := range []struct {
		name, want string
		list       []member
	}{
		{"as it was", "", list},
		{"an unknown member", "notes.txt: an archive has no member of this name", append(slices.Clone(list), member{"notes.txt", []byte("n")})},
		{"no value", "is missing, which record 2 needs", slices.DeleteFunc(slices.Clone(list), func(x member) bool { return bytes.Equal(x.data, blob) })},
		{"no document", "is missing, which record 1 needs", slices.DeleteFunc(slices.Clone(list), func(x member) bool { return bytes.Equal(x.data, document) })},
	} {
		b := memory.New(nil)
		_, added, err := archive.Read(t.Context(), bytes.NewReader(pack(t, m, c.list)), b)
		switch {
		case c.want == "" && (err != nil || !added):
			t.Errorf("%s: %v, %v", c.name, added, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if c.want != "" {
			for range b.List(t.Context(), store.Query{}) {
				t.Errorf("%s: the store has a run", c.name)
			}
		}
	}
}

// TestManifest: a manifest of this format has no other keys, and one of a later format is named.
func TestManifest(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"format": 1, "run": "r", "encrypted": true}`: `unknown field "encrypted"`,
		`{"format": 2, "run": "r", "encrypted": true}`: "archive format 2, this wavefold reads up to 1",
		`{"format": 1`: "unexpected end of JSON input",
	} {
		b := memory.New(nil)
		if _, _, err := archive.Read(t.Context(), bytes.NewReader(packed(t, []byte(manifest), nil)), b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
	}
}
