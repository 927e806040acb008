package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
	"github.com/wavefold/wavefold/store/storetest"
)

// A journal that was cut anywhere is continued after its last whole record, also if zeros follow because the file was allocated in
// advance.
func TestTornTail(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	begin(t, s, "whole", 3)
	release(t, s, "whole")
	whole, err := os.ReadFile(filepath.Join(s.RunDir("whole"), journalName))
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{len(record.Magic)}
	for rec := range s.Read(t.Context(), "whole", 1) {
		sizes = append(sizes, sizes[len(sizes)-1]+len(record.Append(nil, rec)))
	}
	for size := range len(whole) + 1 {
		n := 0
		for n+1 < len(sizes) && sizes[n+1] <= size {
			n++
		}
		torn := size - sizes[n]
		if size < sizes[0] {
			torn = size
		}
		for _, zeros := range []int{0, 1, minAllocate} {
			t.Run(fmt.Sprint(size, "+", zeros), func(t *testing.T) { testTorn(t, append(bytes.Clone(whole[:size]), make([]byte, zeros)...), n, torn) })
		}
	}
}

// testTorn continues a journal with n records, of which the last bytes before the zeros are torn.
func testTorn(t *testing.T, data []byte, n, torn int) {
	var warned []string
	s := open(t, memoryDir(t), Options{Warn: func(m string) { warned = append(warned, m) }})
	writeJournal(t, s, "r1", data)
	if got, err := read(t, s, "r1"); got != numbers(n) || (err != nil) != (n == 0) {
		t.Fatalf("read %s, %v; want %s", got, err, numbers(n))
	}
	lease := acquire(t, s, "r1", holderA, time.Minute)
	next := storetest.Records(uint64(n+1), 1)
	if n == 0 {
		next = []store.Record{storetest.Head("load", time.Unix(0, 0))}
	}
	if err := s.Append(t.Context(), "r1", lease.Token, next, true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != numbers(n+1) || err != nil {
		t.Errorf("continued: read %s, %v", got, err)
	}
	if torn == 0 {
		if len(warned) > 0 {
			t.Errorf("warnings %q", warned)
		}
		return
	}
	removed := 0
	if len(warned) == 1 {
		_, text, _ := strings.Cut(warned[0], journalName+": ")
		_, _ = fmt.Sscanf(text, "%d bytes of an incomplete record", &removed) // stays 0
	}
	if removed == 0 || removed > torn {
		t.Errorf("%d bytes are torn, warnings %q", torn, warned)
	}
}

func numbers(n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprint(i+1))
	}
	return strings.Join(s, " ")
}

func writeJournal(t *testing.T, s *Store, run string, data []byte) {
	t.Helper()
	if err := s.makeRun(s.RunDir(run)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.RunDir(run), journalName), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A change anywhere before the last record is damage: the journal is not changed, and nothing can
// be appended, until it is salvaged.
func TestDamage(t *testing.T) {
	source := open(t, t.TempDir(), Options{})
	begin(t, source, "r1", 3)
	release(t, source, "r1")
	whole, err := os.ReadFile(filepath.Join(source.RunDir("r1"), journalName))
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		if at == len(record.Magic)-2 {
			continue // the version
		}
		bad := bytes.Clone(whole)
		bad[at] ^= 0x10
		s := open(t, memoryDir(t), Options{})
		writeJournal(t, s, "r1", bad)
		got, err := read(t, s, "r1")
		var damage *store.DamageError
		if !errors.As(err, &damage) {
			if n := len(strings.Fields(got)); n == 3 && err == nil {
				continue // in the last record: it cannot be told from a torn one
			}
			t.Fatalf("byte %d: read %s, %v", at, got, err)
		}
		if n := len(strings.Fields(got)); damage.Run != "r1" || damage.Record != uint64(n+1) || damage.Of != 4 || damage.Offset > int64(at) {
			t.Errorf("byte %d: read %s, %+v", at, got, damage)
		}
		if got := status(t, s, "r1"); got != store.StatusDamaged {
			t.Errorf("byte %d: the status is %s", at, got)
		}
		if at%7 == 0 {
			testSalvage(t, s, bad, damage)
		}
	}
}

func testSalvage(t *testing.T, s *Store, bad []byte, damage *store.DamageError) {
	t.Helper()
	lease := acquire(t, s, "r1", holderA, time.Minute)
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(5, 1), true); !errors.As(err, new(*store.DamageError)) {
		t.Errorf("append: %v", err)
	}
	file := filepath.Join(s.RunDir("r1"), journalName)
	if now, err := os.ReadFile(file); !bytes.Equal(now, bad) {
		t.Fatalf("the file has changed, %v", err)
	}
	if found, err := s.Salvage(t.Context(), "r1", lease.Token); err != nil || found.Offset != damage.Offset {
		t.Fatalf("salvage: %+v, %v", found, err)
	}
	if kept, err := os.ReadFile(file + ".damaged"); !bytes.Equal(kept, bad) {
		t.Errorf("no copy was kept: %v", err)
	}
	good := int(damage.Record) - 1
	next := storetest.Records(uint64(good+1), 1)
	if good == 0 {
		next = []store.Record{storetest.Head("load", time.Now())}
	}
	if err := s.Append(t.Context(), "r1", lease.Token, next, true); err != nil {
		t.Errorf("append after salvage: %v", err)
	}
	if got, err := read(t, s, "r1"); got != numbers(good+1) || err != nil {
		t.Errorf("read after salvage: %s, %v", got, err)
	}
	if found, err := s.Salvage(t.Context(), "r1", lease.Token); found != nil || err != nil {
		t.Errorf("salvage of a good journal: %+v, %v", found, err)
	}
}

// A record that is missing between two good ones, in one file or between two files.
func TestGap(t *testing.T) {
	rec := func(seq uint64, token uint32) []byte {
		return record.Append(nil, store.Record{Seq: seq, Token: token, Type: store.Batch, Data: []byte(`{}`)})
	}
	join := func(recs ...[]byte) []byte { return append([]byte(record.Magic), bytes.Join(recs, nil)...) }
	for name, tt := range map[string]struct {
		first, second []byte
		want          string
		damage        string
	}{
		"inside":                  {join(rec(1, 1), rec(3, 1)), nil, "1", "journal damaged at byte 42 (record 2 of 3)"},
		"repeated":                {join(rec(1, 1), rec(1, 1)), nil, "1", "journal damaged at byte 42 (record 2 of 1)"},
		"between files":           {join(rec(1, 1)), join(rec(3, 2)), "1", "journal damaged at byte 16 (record 2 of 3)"},
		"older token":             {join(rec(1, 1), rec(2, 2), rec(3, 1), rec(3, 2)), nil, "1 2 3", ""},
		"replaced by later file":  {join(rec(1, 1), rec(2, 1), rec(3, 1)), join(rec(2, 2)), "1 2", ""},
		"damage that is replaced": {append(join(rec(1, 1)), append(rec(2, 1)[:20], rec(3, 1)...)...), join(rec(2, 2)), "1 2", ""},
		"later file is empty":     {join(rec(1, 1), rec(2, 1)), join(), "1 2", ""},
		"later file is torn":      {join(rec(1, 1), rec(2, 1)), []byte("WAVE"), "1 2", ""},
	} {
		s := open(t, t.TempDir(), Options{})
		writeJournal(t, s, "r1", tt.first)
		if tt.second != nil {
			if err := os.WriteFile(filepath.Join(s.RunDir("r1"), "journal-2"), tt.second, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := read(t, s, "r1")
		if got != tt.want || (err == nil) != (tt.damage == "") || err != nil && !strings.HasPrefix(err.Error(), tt.damage) {
			t.Errorf("%s: read %s, %v; want %s, %s", name, got, err, tt.want, tt.damage)
		}
	}
}

func TestSalvageRemovesLaterFiles(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	begin(t, s, "r1", 3)
	release(t, s, "r1")
	lease := acquire(t, s, "r1", store.Holder{ID: "b", Host: "host-b"}, time.Minute)
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(5, 1), true); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "r1", store.Holder{ID: "b", Host: "host-b"}, 0)
	name := filepath.Join(s.RunDir("r1"), journalName)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-50] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	lease = acquire(t, s, "r1", store.Holder{ID: "c", Host: "host-b"}, time.Minute)
	damage, err := s.Salvage(t.Context(), "r1", lease.Token)
	if err != nil || damage == nil {
		t.Fatal(damage, err)
	}
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(damage.Record, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != numbers(int(damage.Record)) || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
	if _, err := s.Salvage(t.Context(), "r1", lease.Token+1); !isFenced(err) {
		t.Errorf("salvage without the lease: %v", err)
	}
}

// The index is used only for journals that have not changed, and is made again when it is wrong.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	begin(t, s, "r1", 1)
	release(t, s, "r1")
	file := filepath.Join(dir, "index.json")
	check := func(when string) {
		t.Helper()
		if got := status(t, s, "r1"); got != store.StatusInterrupted {
			t.Errorf("%s: %s", when, got)
		}
		if x := s.loadIndex(); len(x) != 1 || x["r1"].Summary.Records == 0 {
			t.Errorf("%s: the index is %+v", when, x)
		}
	}
	check("missing")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	check("current")
	if again, _ := os.ReadFile(file); !bytes.Equal(good, again) {
		t.Error("a current index was written again")
	}
	for when, data := range map[string][]byte{
		"empty":     nil,
		"torn":      good[:len(good)/2],
		"flipped":   bytes.Replace(good, []byte("interrupted"), []byte("succeeded!!"), 1),
		"other run": bytes.ReplaceAll(good, []byte("r1"), []byte("r2")),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		check(when)
	}
	lease := acquire(t, s, "r1", holderA, time.Minute)
	end := store.Record{Seq: 3, Type: store.End, Data: []byte(`{"status":"success"}`)}
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{end}, true); err != nil {
		t.Fatal(err)
	}
	if got := status(t, s, "r1"); got != "success" {
		t.Errorf("stale: %s", got)
	}
}

// A change that leaves size and time as they were is not seen by a list, but it is after a read.
func TestIndexOfSilentDamage(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	begin(t, s, "r1", 2)
	release(t, s, "r1")
	name := filepath.Join(s.RunDir("r1"), journalName)
	written := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, written, written); err != nil {
		t.Fatal(err)
	}
	status(t, s, "r1")
	data, _ := os.ReadFile(name)
	data[len(record.Magic)+30] ^= 1
	if err := errors.Join(os.WriteFile(name, data, 0o600), os.Chtimes(name, written, written)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, "r1"); !errors.As(err, new(*store.DamageError)) {
		t.Errorf("read: %v", err)
	}
	if got := status(t, s, "r1"); got != store.StatusDamaged {
		t.Errorf("the status is %s", got)
	}
}

func TestDamagedBlob(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	sum, err := s.Put(t.Context(), []byte("blob"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"torn": []byte("blob"), "other": record.Compress(nil, []byte("other"))} {
		if err := os.WriteFile(s.blobFile(sum), data, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *store.DamageError
		if _, err := s.Get(t.Context(), sum); !errors.As(err, &damage) || damage.Blob != sum || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Prune removes blobs and temporary files that are old and that no journal names, and what an interrupted
// call left.
func TestSweep(t *testing.T) {
	c := newClock()
	s := open(t, t.TempDir(), Options{Now: c.Now})
	put := func(data string) string {
		sum, err := s.Put(t.Context(), []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	kept, old, again := put("kept"), put("old"), put("again")
	temporary := filepath.Join(filepath.Dir(s.blobFile(old)), ".tmp-1")
	if err := errors.Join(os.WriteFile(temporary, nil, 0o600), s.touch(temporary)); err != nil {
		t.Fatal(err)
	}
	lease := begin(t, s, "r1", 0)
	batch := store.Record{Seq: 2, Type: store.Batch, Data: fmt.Appendf(nil, `{"x":{"$blob":%q}}`, kept)}
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{batch}, true); err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	put("again")
	if pruned, err := s.Prune(t.Context(), store.Query{}); err != nil || pruned.Blobs != 0 || !exists(temporary) {
		t.Errorf("nothing to prune: %+v, %v", pruned, err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "runs", prunedPrefix+"x"), 0o700); err != nil {
		t.Fatal(err)
	}
	pruned, err := s.Prune(t.Context(), store.Query{})
	if err != nil || pruned.Blobs != 1 || exists(temporary) || exists(filepath.Join(s.dir, "runs", prunedPrefix+"x")) {
		t.Errorf("%+v, %v", pruned, err)
	}
	for sum, want := range map[string]bool{kept: true, again: true, old: false} {
		if _, err := s.Get(t.Context(), sum); (err == nil) != want {
			t.Errorf("blob %s: %v", sum, err)
		}
	}
}
