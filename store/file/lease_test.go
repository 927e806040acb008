package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
	"github.com/wavefold/wavefold/store/storetest"
)

func isHeld(err error) bool { return errors.As(err, new(*store.HeldError)) }

// clock is a clock that only tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Two stores on one folder, as two processes have them.
func TestLeaseOfAnotherHost(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	a, b := open(t, dir, Options{Now: c.Now}), open(t, dir, Options{Now: c.Now})
	first := begin(t, a, "r1", 2)
	onB := store.Holder{ID: "b", Host: "host-b"}

	c.advance(59 * time.Second)
	if _, err := b.Acquire(t.Context(), "r1", onB, time.Minute); !isHeld(err) {
		t.Fatalf("before it expires: %v", err)
	}
	acquire(t, a, "r1", holderA, time.Minute)
	c.advance(59 * time.Second)
	if _, err := b.Acquire(t.Context(), "r1", onB, time.Minute); !isHeld(err) {
		t.Fatalf("before it expires after renewal: %v", err)
	}
	c.advance(time.Second)
	second := acquire(t, b, "r1", onB, time.Minute)
	if second.Token != first.Token+1 {
		t.Errorf("the token is %d after %d", second.Token, first.Token)
	}
	// The first holder has a record that it has not written, and one that is on its way to the disk.
	if err := a.Append(t.Context(), "r1", first.Token, storetest.Records(4, 1), true); !isFenced(err) {
		t.Errorf("the first holder appends: %v", err)
	}
	if err := a.Append(t.Context(), "r1", first.Token, nil, false); !isFenced(err) {
		t.Errorf("the first holder checks its lease: %v", err)
	}
	if _, err := a.Acquire(t.Context(), "r1", holderA, time.Minute); !isHeld(err) {
		t.Errorf("the first holder renews: %v", err)
	}
	stale := record.Append(nil, store.Record{Seq: 4, Token: first.Token, Type: store.Batch, Data: []byte(`"stale"`)})
	appendBytes(t, filepath.Join(a.RunDir("r1"), journalName), stale)
	if got, err := read(t, b, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("before the second holder writes: %s, %v", got, err)
	}
	if err := b.Append(t.Context(), "r1", second.Token, storetest.Records(4, 2), true); err != nil {
		t.Fatal(err)
	}
	appendBytes(t, filepath.Join(a.RunDir("r1"), journalName), stale[:10]) // incomplete, and of no effect
	for rec, err := range b.Read(t.Context(), "r1", 4) {
		if err != nil || rec.Token != second.Token {
			t.Errorf("record %d has token %d, %v", rec.Seq, rec.Token, err)
		}
	}
	acquire(t, b, "r1", onB, 0)
	third := acquire(t, b, "r1", store.Holder{ID: "c", Host: "host-b"}, time.Minute)
	if err := b.Append(t.Context(), "r1", third.Token, storetest.Records(6, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, a, "r1"); got != "1 2 3 4 5 6" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
	if names := strings.Join(names(t, a.RunDir("r1")), " "); names != "journal journal-2 lease-3 lock-host-a lock-host-b" {
		t.Errorf("the folder has %s", names)
	}
}

// Of many hosts that take a lease at the same moment, one gets it.
func TestHostsRace(t *testing.T) {
	s := open(t, memoryDir(t), Options{})
	for i := range 100 {
		run := fmt.Sprint("r", i)
		var wg sync.WaitGroup
		var winners atomic.Int32
		start := make(chan struct{})
		for host := range 8 {
			wg.Go(func() {
				<-start
				_, err := s.Acquire(t.Context(), run, store.Holder{ID: fmt.Sprint(host), Host: fmt.Sprint(host)}, time.Hour)
				if err == nil {
					winners.Add(1)
				} else if !isHeld(err) {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		if n := winners.Load(); n != 1 {
			t.Fatalf("run %d: %d hosts have the lease", i, n)
		}
	}
}

// The new holder begins where its journal ends, though the old one wrote more since it was read.
func TestNewHolderReplacesLateRecords(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, dir, Options{Now: c.Now})
	first := begin(t, s, "r1", 2)
	c.advance(time.Hour)
	second := acquire(t, s, "r1", store.Holder{ID: "b", Host: "host-b"}, time.Minute)
	for seq := range uint64(3) {
		late := record.Append(nil, store.Record{Seq: 4 + seq, Token: first.Token, Type: store.Batch, Data: []byte(`{"n":1}`)})
		appendBytes(t, filepath.Join(s.RunDir("r1"), journalName), late)
	}
	if err := s.Append(t.Context(), "r1", second.Token, storetest.Records(8, 1), true); err == nil {
		t.Error("a gap was appended")
	}
	if err := s.Append(t.Context(), "r1", second.Token, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
}

// A holder that has written nothing when it loses its lease cannot begin a file any more: its records would
// replace records that the next holder has read.
func TestHolderIsTooLateForItsFile(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, dir, Options{Now: c.Now})
	begin(t, s, "r1", 2)
	c.advance(time.Hour)
	late := acquire(t, s, "r1", store.Holder{ID: "b", Host: "host-b"}, time.Minute)
	c.advance(time.Hour)
	_, before, err := stampOf(s.RunDir("r1"))
	if err != nil {
		t.Fatal(err)
	}
	last := acquire(t, s, "r1", store.Holder{ID: "c", Host: "host-c"}, time.Minute)
	if err := createPart(filepath.Join(s.RunDir("r1"), fmt.Sprint(journalName, "-", late.Token))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the file of the late holder: %v", err)
	}
	if _, after, err := stampOf(s.RunDir("r1")); !after.Time.Equal(before.Time) || after.Size != before.Size || err != nil {
		t.Errorf("the journal seems to have changed: %+v, before %+v, %v", after, before, err)
	}
	if err := s.Append(t.Context(), "r1", last.Token, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
}

func appendBytes(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.Write(data)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// After a loss of power an earlier lease can be back. Its journal is not the last one any more.
func TestEarlierLeaseIsBack(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	begin(t, s, "r1", 2)
	release(t, s, "r1")
	earlier, err := os.ReadFile(leaseFile(s.RunDir("r1"), 1))
	if err != nil {
		t.Fatal(err)
	}
	onB := store.Holder{ID: "b", Host: "host-b"}
	second := acquire(t, s, "r1", onB, time.Minute)
	if err := s.Append(t.Context(), "r1", second.Token, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "r1", onB, 0)
	if err := errors.Join(os.Remove(leaseFile(s.RunDir("r1"), 2)), os.WriteFile(leaseFile(s.RunDir("r1"), 1), earlier, 0o600)); err != nil {
		t.Fatal(err)
	}
	third := acquire(t, s, "r1", holderA, time.Minute)
	if err := s.Append(t.Context(), "r1", third.Token, storetest.Records(5, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4 5" || err != nil || third.Token != 3 {
		t.Errorf("read %s, %v, token %d", got, err, third.Token)
	}
}

// A holder that wrote nothing leaves no file. The next one on its host must not continue the file of the holder before,
// who may only be suspended.
func TestSilentHolder(t *testing.T) {
	c := newClock()
	s := open(t, t.TempDir(), Options{Now: c.Now})
	begin(t, s, "r1", 2)
	c.advance(time.Hour)
	onB := store.Holder{ID: "b", Host: "host-b"}
	acquire(t, s, "r1", onB, time.Minute)
	acquire(t, s, "r1", onB, 0)
	third := acquire(t, s, "r1", onB, time.Minute)
	if err := s.Append(t.Context(), "r1", third.Token, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(names(t, s.RunDir("r1")), " "); !strings.HasPrefix(names, "journal journal-2 lease-3") {
		t.Errorf("the folder has %s", names)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
}

// childDir makes the test binary a process that holds a run until it is killed.
const childDir = "WAVEFOLD_TEST_HOLD"

func TestMain(m *testing.M) {
	switch dir := os.Getenv(childDir); {
	case dir == "":
	case os.Getenv(childAppends) != "":
		fmt.Println(appendForever(dir))
		os.Exit(1)
	default:
		holdRun(dir)
	}
	os.Exit(m.Run())
}

func holdRun(dir string) {
	s, err := Open(dir, Options{})
	if err == nil {
		h := store.NewHolder()
		var lease store.Lease
		if lease, err = s.Acquire(context.Background(), "r1", h, time.Hour); err == nil {
			err = s.Append(context.Background(), "r1", lease.Token, append([]store.Record{storetest.Head("load", time.Now())}, storetest.Records(2, 2)...), true)
		}
	}
	fmt.Println("holds", err)
	select {}
}

// A process that was killed leaves a lease that lasts an hour. On its host, the next one need not
// wait.
func TestKilledHolder(t *testing.T) {
	if !canLock {
		t.Skip("no locks on this system")
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "holds <nil>\n" {
		t.Fatalf("the child says %q", line)
	}
	s := open(t, dir, Options{})
	h := store.NewHolder()
	var held *store.HeldError
	if _, err := s.Acquire(t.Context(), "r1", h, time.Hour); !errors.As(err, &held) || held.Lease.PID != child.Process.Pid {
		t.Fatalf("while the child lives: %v", err)
	}
	if got := status(t, s, "r1"); got != store.StatusRunning {
		t.Errorf("while the child lives: %s", got)
	}
	if pruned, err := s.Prune(t.Context(), store.Query{Status: []string{store.StatusInterrupted, store.StatusRunning}}); err != nil || len(pruned.Runs) > 0 {
		t.Errorf("while the child lives: pruned %v, %v", pruned, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // was killed
	if got := status(t, s, "r1"); got != store.StatusInterrupted {
		t.Errorf("after it was killed: %s", got)
	}
	lease := acquire(t, s, "r1", h, time.Hour)
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil || lease.Token != 2 {
		t.Errorf("read %s, %v, token %d", got, err, lease.Token)
	}
	if names := strings.Join(names(t, s.RunDir("r1")), " "); !strings.HasPrefix(names, "journal lease-2 lock-") {
		t.Errorf("the folder has %s", names)
	}
}

// A journal whose leases are lost, with power or because it was copied, has records with tokens, and the next token is
// larger.
func TestCopyWithoutLeases(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	begin(t, s, "r1", 0)
	release(t, s, "r1")
	lease := acquire(t, s, "r1", holderA, time.Minute)
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(2, 1), true); err != nil {
		t.Fatal(err)
	}
	release(t, s, "r1")
	if err := os.Remove(leaseFile(s.RunDir("r1"), 2)); err != nil {
		t.Fatal(err)
	}
	if l := acquire(t, s, "r1", holderA, time.Minute); l.Token != 3 {
		t.Errorf("the token is %d", l.Token)
	}
	release(t, s, "r1")
	if err := os.WriteFile(leaseFile(s.RunDir("r1"), 3), nil, 0o600); err != nil { // not flushed before a loss of power
		t.Fatal(err)
	}
	if l := acquire(t, s, "r1", holderA, time.Minute); l.Token != 4 {
		t.Errorf("the token is %d", l.Token)
	}
	if err := s.Append(t.Context(), "r1", 4, storetest.Records(3, 1), true); err != nil {
		t.Fatal(err)
	}
	release(t, s, "r1")
	if err := os.Rename(leaseFile(s.RunDir("r1"), 4), leaseFile(s.RunDir("r1"), 2)); err != nil { // an earlier one is left
		t.Fatal(err)
	}
	if l := acquire(t, s, "r1", holderA, time.Minute); l.Token != 5 {
		t.Errorf("the token is %d", l.Token)
	}
	if err := s.Append(t.Context(), "r1", 5, storetest.Records(4, 1), true); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
}

// A process that is killed while it starts a program leaves its lock to the new process for a moment.
func TestLockIsFreeSoon(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	dir := s.RunDir("r1")
	if err := s.makeRun(dir); err != nil {
		t.Fatal(err)
	}
	left, err := lockRun(filepath.Join(dir, "lock-"+escape(holderA.Host)))
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(20*time.Millisecond, func() { left.Close() }).Stop()
	acquire(t, s, "r1", holderA, time.Minute)
}
