// Package archive moves stored runs between stores. An archive is one file with everything that a
// store has for a run: its journal, the blobs that the journal names, the messages that were posted
// to it, and its attachments. Unpacked by hand, its members are:
//
//	zstd -dc run.wavefold | tar x
//
//	manifest.json      what the archive contains: a Manifest
//	journal.ndjson     the records, one in a line
//	inbox.ndjson       the messages, one in a line; left out if there are none
//	blobs/HEX          one blob, by the SHA-256 of its content
//	log.ndjson         log records and progress, if the store has them
//	output/...         what programs printed, if the store has it
//
// Journals have no values of secrets, so archives have none.
package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/store"
)

// Format is the current format of archives. Read accepts it and every earlier one.
const Format = 1

// Names of the members of an archive.
const (
	manifestName = "manifest.json"
	journalName  = "journal.ndjson"
	inboxName    = "inbox.ndjson"
	blobFolder   = "blobs/"
)

// Manifest is the table of contents of an archive.
type Manifest struct {
	Format   int      `json:"format"`   // of the archive
	Journal  int      `json:"journal"`  // the largest format of a record
	Run      string   `json:"run"`      // the id of the run
	Workflow string   `json:"workflow"` // its name
	Status   string   `json:"status"`   // of the run; StatusInterrupted if it had not ended
	Records  uint64   `json:"records"`  // the number of records
	Members  []Member `json:"members"`  // everything else in the archive, in its order
}

// Member is a file in an archive.
type Member struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the content, in hexadecimal
}

// line is a record in a line of journal.ndjson.
type line struct {
	Seq     uint64          `json:"seq"`
	Type    string          `json:"type"`
	Version uint8           `json:"version"`
	Data    json.RawMessage `json:"data"`
}

// appendRecord appends the line of a record. It does not change the payload.
func appendRecord(dst []byte, rec store.Record) ([]byte, error) {
	if bytes.IndexByte(rec.Data, '\n') >= 0 {
		return nil, fmt.Errorf("record %d has a line break", rec.Seq)
	}
	dst = fmt.Appendf(dst, `{"seq":%d,"type":%q,"version":%d,"data":`, rec.Seq, rec.Type, rec.Version)
	return append(append(dst, rec.Data...), "}\n"...), nil
}

// types are the types of records by their names.
var types = map[string]store.Type{}

func init() {
	for t := store.Head; t <= store.End; t++ {
		types[t.String()] = t
	}
}

// parseRecord parses a line of journal.ndjson.
func parseRecord(text []byte) (store.Record, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return store.Record{}, err
	}
	t, ok := types[l.Type]
	if !ok {
		return store.Record{}, fmt.Errorf("unknown type of record %q", l.Type)
	}
	if l.Version > store.Format {
		return store.Record{}, &store.FormatError{Format: int(l.Version)}
	}
	return store.Record{Seq: l.Seq, Type: t, Version: l.Version, Data: l.Data}, nil
}

// lines calls f with each line of r. Lines may have any length.
func lines(r io.Reader, f func(text []byte) error) error {
	b := bufio.NewReader(r)
	for {
		text, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(text) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err == nil {
			err = f(text)
		}
		if err != nil {
			return err
		}
	}
}

// blobMember returns the name of the member with a blob.
func blobMember(sum string) string { return blobFolder + strings.TrimPrefix(sum, "sha256:") }

// needs reports whether a value of a record, or a document that the run was compiled from, is in a blob. Another
// string that has the form of the name of a blob may be a value of a user.
func needs(rec store.Record, name string) bool {
	if bytes.Contains(rec.Data, []byte(`"$blob":"`+name)) {
		return true
	}
	var head struct {
		Sources []struct{ Blob string }
	}
	return rec.Type == store.Head && json.Unmarshal(rec.Data, &head) == nil &&
		slices.ContainsFunc(head.Sources, func(s struct{ Blob string }) bool { return s.Blob == name })
}

// records calls f with the first n records of a run, or with all if n is 0.
func records(ctx context.Context, s store.Store, run string, n uint64, f func(store.Record) error) error {
	for rec, err := range s.Read(ctx, run, 1) {
		if err == nil {
			err = f(rec)
		}
		if err != nil {
			return err
		}
		if rec.Seq == n {
			return nil
		}
	}
	return nil
}
