package archive

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wavefold/wavefold/store"
)

// Write writes an archive of a run to w. It needs no lease: the archive of a run that is in progress has
// the records up to now. Two archives of a run are equal if the run has not changed between the two
// calls. The error is store.ErrNotFound if the store has no such run, and a *store.DamageError if a
// record or a blob cannot be read.
func Write(ctx context.Context, w io.Writer, s store.Store, run string) (*Manifest, error) {
	m, inbox, err := contents(ctx, s, run)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewWriter(w)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	if err := writeMembers(ctx, t, s, m, inbox); err != nil {
		return nil, errors.Join(err, z.Close())
	}
	return m, errors.Join(t.Close(), z.Close())
}

// counter measures a member while it is written to it.
type counter struct {
	sum   hash.Hash
	bytes int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return c.sum.Write(p)
}

func (c *counter) member(name string) Member {
	return Member{Name: name, Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil))}
}

// contents reads a run once and returns the table of contents, and the messages in the form that
// they have in the archive.
func contents(ctx context.Context, s store.Store, run string) (*Manifest, []byte, error) {
	m := &Manifest{Format: Format, Run: run}
	sum := store.Summary{Run: run}
	journal := &counter{sum: sha256.New()}
	var blobs []string
	needed := map[string]bool{} // by name of a blob; false for what may be a value that looks like a name
	var text []byte
	err := records(ctx, s, run, 0, func(rec store.Record) (err error) {
		if text, err = appendRecord(text[:0], rec); err != nil {
			return err
		}
		_, _ = journal.Write(text) // a hash has no errors
		for name := range store.BlobNames(rec.Data) {
			if _, seen := needed[name]; !seen {
				blobs = append(blobs, name)
			}
			needed[name] = needed[name] || needs(rec, name)
		}
		m.Journal = max(m.Journal, int(rec.Version))
		return sum.Add(rec)
	})
	if err != nil {
		return nil, nil, err
	}
	m.Workflow, m.Status, m.Records = sum.Workflow, sum.Status, sum.Records
	m.Members = append(m.Members, journal.member(journalName))
	inbox, err := inboxLines(ctx, s, run)
	if err != nil {
		return nil, nil, err
	}
	if len(inbox) > 0 {
		m.Members = append(m.Members, memberOf(inboxName, inbox))
	}
	for _, name := range blobs {
		data, err := s.Get(ctx, name)
		if errors.Is(err, store.ErrNotFound) && !needed[name] {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		m.Members = append(m.Members, memberOf(blobMember(name), data))
	}
	attached, err := attachments(s, run)
	m.Members = append(m.Members, attached...)
	return m, inbox, err
}

// isAttachment reports whether a member is an attachment of the run.
func isAttachment(name string) bool {
	return name == store.LogFile || strings.HasPrefix(name, store.OutputFolder+"/")
}

// attachments measures the attachments of a run.
func attachments(s store.Store, run string) (list []Member, err error) {
	from, ok := s.(store.Attacher)
	if !ok {
		return nil, nil
	}
	outputs, err := from.Attachments(run, store.OutputFolder)
	if err != nil {
		return nil, err
	}
	names := []string{store.LogFile}
	for _, name := range outputs {
		names = append(names, store.OutputFolder+"/"+name)
	}
	for _, name := range names {
		c := &counter{sum: sha256.New()}
		err := copyAttachment(c, from, run, name, math.MaxInt64)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c.member(name))
	}
	return list, nil
}

// copyAttachment copies the first bytes of an attachment.
func copyAttachment(to io.Writer, from store.Attacher, run, name string, size int64) error {
	f, err := from.Attached(run, name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(f, size))
	return errors.Join(err, f.Close())
}

func memberOf(name string, data []byte) Member {
	c := &counter{sum: sha256.New()}
	_, _ = c.Write(data)
	return c.member(name)
}

// inboxLines returns the messages of a run, one in a line.
func inboxLines(ctx context.Context, s store.Store, run string) ([]byte, error) {
	list, err := s.Inbox(ctx, run)
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, m := range list {
		data, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		text = append(append(text, data...), '\n')
	}
	return text, nil
}

// writeMembers writes the manifest and the members that it lists.
func writeMembers(ctx context.Context, t *tar.Writer, s store.Store, m *Manifest, inbox []byte) error {
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := writeMember(t, manifestName, append(manifest, '\n')); err != nil {
		return err
	}
	for _, member := range m.Members {
		switch member.Name {
		case journalName:
			err = writeJournal(ctx, t, s, m, member.Bytes)
		case inboxName:
			err = writeMember(t, inboxName, inbox)
		default:
			if isAttachment(member.Name) {
				err = writeAttachment(t, s, m.Run, member)
				break
			}
			var data []byte
			if data, err = s.Get(ctx, "sha256:"+member.SHA256); err == nil {
				err = writeMember(t, member.Name, data)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeJournal(ctx context.Context, t *tar.Writer, s store.Store, m *Manifest, size int64) error {
	if err := t.WriteHeader(header(journalName, size)); err != nil {
		return err
	}
	var text []byte
	return records(ctx, s, m.Run, m.Records, func(rec store.Record) (err error) {
		if text, err = appendRecord(text[:0], rec); err == nil {
			_, err = t.Write(text)
		}
		return err
	})
}

// writeAttachment writes an attachment as it was measured. It may have become longer since.
func writeAttachment(t *tar.Writer, s store.Store, run string, member Member) error {
	if err := t.WriteHeader(header(member.Name, member.Bytes)); err != nil {
		return err
	}
	c := &counter{sum: sha256.New()}
	err := copyAttachment(io.MultiWriter(t, c), s.(store.Attacher), run, member.Name, member.Bytes)
	if err == nil && c.member(member.Name) != member {
		err = fmt.Errorf("%s of run %s was replaced while it was read; try again", member.Name, run)
	}
	return err
}

func writeMember(t *tar.Writer, name string, data []byte) error {
	if err := t.WriteHeader(header(name, int64(len(data)))); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}

// header has no time and no owner, so that archives of the same run are equal.
func header(name string, size int64) *tar.Header {
	return &tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
}
