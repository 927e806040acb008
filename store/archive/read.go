package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wavefold/wavefold/store"
)

// ErrOther is the error of Read if the store has the run of the archive with other content. This
// happens if the two copies were resumed separately, or if one was resumed after the archive was
// made.
var ErrOther = errors.New("the store has this run with other content")

// leaseTime is the duration of the lease for adding a run. It is released before Read returns.
const leaseTime = time.Minute

// Read adds the run of an archive to a store. It checks the whole archive first. added is false if the
// store has the run already, with the same records. The error is ErrOther if it has the run with other
// records, a *store.HeldError if the run is in progress there, and a *store.FormatError if a newer
// version has written the archive.
func Read(ctx context.Context, r io.Reader, s store.Store) (m *Manifest, added bool, err error) {
	z, err := zstd.NewReader(r)
	if err != nil {
		return nil, false, damaged(err)
	}
	defer z.Close()
	in := &reader{ctx: ctx, store: s, tar: tar.NewReader(z)}
	defer in.spool.close()
	if err := in.read(); err != nil {
		return nil, false, err
	}
	if _, err := io.Copy(io.Discard, z); err != nil { // the checksum of the whole is at the end
		return nil, false, damaged(err)
	}
	added, err = in.add()
	return &in.manifest, added, err
}

// damaged says that a file is not an archive, or that it has changed since it was written.
func damaged(err error) error {
	if errors.Is(err, zstd.ErrMagicMismatch) {
		return errors.New("it is not a file that export has written")
	}
	return fmt.Errorf("the archive is damaged: %w", err)
}

// reader is the state of a call of Read.
type reader struct {
	ctx      context.Context
	store    store.Store
	tar      *tar.Reader
	manifest Manifest
	records  []store.Record
	inbox    []store.Message
	spool    spool
}

// spool holds attachments until the rest of the archive has been checked.
type spool struct {
	file  *os.File // nil before the first one
	names []Member // in the order in which they are in the file
}

// add copies an attachment.
func (s *spool) add(member Member, r io.Reader) (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "wavefold-import-*"); err != nil {
			return &storeError{err}
		}
	}
	s.names = append(s.names, member)
	_, err = io.Copy(s.file, r)
	return err
}

// copyTo attaches all to a run.
func (s *spool) copyTo(to store.Attacher, run string) error {
	if s.file == nil {
		return nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for _, member := range s.names {
		if err := to.Detach(run, member.Name); err != nil { // of a call that did not end
			return err
		}
		w, err := to.Attach(run, member.Name)
		if err != nil {
			return err
		}
		_, err = io.CopyN(w, s.file, member.Bytes)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}

// read reads all members. It stores blobs at once. If the rest of the archive is damaged, no journal
// names them, and the store removes them later.
func (in *reader) read() error {
	if err := in.readManifest(); err != nil {
		return err
	}
	for _, member := range in.manifest.Members {
		h, err := in.tar.Next()
		if err == nil && h.Name != member.Name {
			err = fmt.Errorf("%s is where the manifest says %s", h.Name, member.Name)
		}
		if err == nil {
			err = in.readMember(member)
		}
		if err != nil {
			return cannot(member.Name, err)
		}
	}
	if h, err := in.tar.Next(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = fmt.Errorf("%s is not in the manifest", h.Name)
		}
		return damaged(err)
	}
	if uint64(len(in.records)) != in.manifest.Records || len(in.records) == 0 {
		return damaged(fmt.Errorf("%d records, the manifest says %d", len(in.records), in.manifest.Records))
	}
	if err := in.checkBlobs(); err != nil {
		return damaged(err)
	}
	return store.CheckAppend(in.manifest.Run, 0, in.records)
}

// checkBlobs returns an error if a result is in a blob that the archive does not have.
func (in *reader) checkBlobs() error {
	for _, rec := range in.records {
		for name := range store.BlobNames(rec.Data) {
			if needs(rec, name) && !slices.ContainsFunc(in.manifest.Members, func(m Member) bool { return m.Name == blobMember(name) }) {
				return fmt.Errorf("%s is missing, which record %d needs", blobMember(name), rec.Seq)
			}
		}
	}
	return nil
}

// cannot adds to err the name of the member that cannot be read. It does not change errors of the
// store.
func cannot(name string, err error) error {
	if _, ok := errors.AsType[*store.FormatError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*storeError](err); ok {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return damaged(fmt.Errorf("%s: %w", name, err))
}

// storeError is an error of the store.
type storeError struct{ err error }

// Error returns the message of the store.
func (e *storeError) Error() string { return e.err.Error() }

// Unwrap returns the error of the store.
func (e *storeError) Unwrap() error { return e.err }

// maxManifest limits the size of a manifest in bytes. It has about 150 for each member.
const maxManifest = 64 << 20

func (in *reader) readManifest() error {
	h, err := in.tar.Next()
	if err != nil {
		return cannot(manifestName, err)
	}
	if h.Name != manifestName {
		return damaged(fmt.Errorf("it begins with %s, want %s", h.Name, manifestName))
	}
	data, err := io.ReadAll(io.LimitReader(in.tar, maxManifest))
	if err == nil {
		err = json.Unmarshal(data, &in.manifest)
	}
	if err != nil {
		return cannot(manifestName, err)
	}
	switch m := &in.manifest; {
	case m.Format > Format:
		return fmt.Errorf("archive format %d, this wavefold reads up to %d", m.Format, Format)
	case m.Journal > store.Format:
		return &store.FormatError{Format: m.Journal}
	}
	strict := json.NewDecoder(bytes.NewReader(data)) // only a later format has other keys
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Manifest)); err != nil {
		return cannot(manifestName, err)
	}
	return nil
}

func (in *reader) readMember(member Member) error {
	sum := &counter{sum: sha256.New()}
	r := io.TeeReader(in.tar, sum)
	var err error
	switch {
	case member.Name == journalName:
		err = lines(r, func(text []byte) error {
			rec, err := parseRecord(text)
			in.records = append(in.records, rec)
			return err
		})
	case member.Name == inboxName:
		err = lines(r, func(text []byte) error {
			var m store.Message
			err := json.Unmarshal(text, &m)
			in.inbox = append(in.inbox, m)
			return err
		})
	case strings.HasPrefix(member.Name, blobFolder):
		err = in.readBlob(member, r)
	case isAttachment(member.Name):
		err = in.spool.add(member, r)
	default:
		return errors.New("an archive has no member of this name")
	}
	if err == nil && sum.member(member.Name) != member {
		err = errors.New("its content is not what was written")
	}
	return err
}

func (in *reader) readBlob(member Member, r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if blobMember(store.BlobName(data)) != member.Name {
		return errors.New("its content is not what its name says")
	}
	if _, err := in.store.Put(in.ctx, data); err != nil {
		return &storeError{err}
	}
	return nil
}

// add stores the journal and the messages.
func (in *reader) add() (added bool, err error) {
	run := in.manifest.Run
	same, err := in.compare()
	if same || err != nil {
		return false, err
	}
	h := store.NewHolder()
	lease, err := in.store.Acquire(in.ctx, run, h, leaseTime)
	if err != nil {
		return false, err
	}
	defer func() {
		_, rerr := in.store.Acquire(context.WithoutCancel(in.ctx), run, h, 0)
		err = errors.Join(err, rerr)
	}()
	if to, ok := in.store.(store.Attacher); ok {
		if err := in.spool.copyTo(to, run); err != nil {
			return false, err
		}
	}
	if err := in.store.Append(in.ctx, run, lease.Token, in.records, true); err != nil {
		return false, err
	}
	return true, in.post()
}

// compare reports whether the store has the run with the same records and messages. The error is
// ErrOther if it has the run with others.
func (in *reader) compare() (same bool, err error) {
	n := 0
	err = records(in.ctx, in.store, in.manifest.Run, 0, func(rec store.Record) error {
		if n == len(in.records) || rec.Type != in.records[n].Type || !bytes.Equal(rec.Data, in.records[n].Data) {
			return ErrOther
		}
		n++
		return nil
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case n < len(in.records):
		return false, ErrOther
	}
	return true, in.post()
}

// post adds the messages that the run does not have.
func (in *reader) post() error {
	for _, m := range in.inbox {
		err := in.store.Post(in.ctx, in.manifest.Run, m)
		if taken, ok := errors.AsType[*store.TakenError](err); ok {
			err = nil
			if !bytes.Equal(taken.First.Data, m.Data) {
				err = ErrOther
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
