package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
)

const blobPrefix = "sha256:"

// BlobName returns the name of the blob with that content.
func BlobName(data []byte) string {
	sum := sha256.Sum256(data)
	return blobPrefix + hex.EncodeToString(sum[:])
}

// IsBlobName reports whether s has the form of a blob's name.
func IsBlobName(s string) bool {
	if len(s) != len(blobPrefix)+2*sha256.Size || s[:len(blobPrefix)] != blobPrefix {
		return false
	}
	for _, c := range []byte(s[len(blobPrefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// BlobNames yields all strings in the payload of a record that have the form of a blob's name. Some of them
// may be user values that only look like a name.
func BlobNames(data []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := bytes.Index(data, []byte(blobPrefix))
			if at < 0 {
				return
			}
			data = data[at:]
			if end := len(blobPrefix) + 2*sha256.Size; len(data) >= end && IsBlobName(string(data[:end])) && !yield(string(data[:end])) {
				return
			}
			data = data[len(blobPrefix):]
		}
	}
}
