package file

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// A process that appends is killed again and again, at no particular moment. What it reported as written is there, and
// the next one continues.
func TestKilledWriter(t *testing.T) {
	if !canLock {
		t.Skip("no locks on this system")
	}
	dir := t.TempDir()
	for kill := range 8 {
		reported := killWriter(t, dir, 5+kill*7)
		s := open(t, dir, Options{})
		n := uint64(0)
		for rec, err := range s.Read(t.Context(), "r1", 1) {
			if n++; err != nil || rec.Seq != n || rec.Token > uint32(kill+1) {
				t.Fatalf("kill %d: record %d is %d of token %d, %v", kill, n, rec.Seq, rec.Token, err)
			}
		}
		if n < reported {
			t.Fatalf("kill %d: %d records, %d were reported", kill, n, reported)
		}
		if got := status(t, s, "r1"); got != store.StatusInterrupted {
			t.Errorf("kill %d: the status is %s", kill, got)
		}
	}
}

// killWriter starts a process that appends, kills it after it has reported a number of appends, and returns the
// last record that was reported.
func killWriter(t *testing.T, dir string, appends int) (last uint64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir, childAppends+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if i == appends {
			_ = child.Process.Kill() // what it reported before it died is read to the end
		}
		if _, err := fmt.Sscanf(lines.Text(), "wrote %d", &last); err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
	}
	_ = child.Wait() // was killed
	return last
}

// childAppends makes the child append until it is killed.
const childAppends = "WAVEFOLD_TEST_APPEND"

func appendForever(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	lease, err := s.Acquire(ctx, "r1", store.NewHolder(), time.Hour)
	if err != nil {
		return err
	}
	last := uint64(0)
	for _, err := range s.Read(ctx, "r1", 1) {
		if err == nil {
			last++
		}
	}
	for ; ; last++ {
		rec := store.Record{Seq: last + 1, Type: store.Batch, Data: []byte(`{"text":"` + strings.Repeat("x", int(last*37%9000)) + `"}`)}
		if last == 0 {
			rec = storetest.Head("load", time.Now())
		}
		if err := s.Append(ctx, "r1", lease.Token, []store.Record{rec}, last%3 > 0); err != nil {
			return err
		}
		fmt.Println("wrote", rec.Seq)
	}
}
