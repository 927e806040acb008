package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// asHolder makes the test program a process that holds a run of the database with this URL.
const asHolder = "WAVEFOLD_POSTGRES_HOLDER"

func init() {
	if dsn := os.Getenv(asHolder); dsn != "" {
		holdRun(dsn)
	}
}

// holdRun begins a run, appends to it, reports that, and answers a question of another one. It then appends until it is killed.
func holdRun(dsn string) {
	ctx := context.Background()
	s, err := Open(ctx, dsn, Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	lease, err := s.Acquire(ctx, "child", store.NewHolder(), ttl)
	err = errors.Join(err, s.Append(ctx, "child", lease.Token, []store.Record{storetest.Head("load", time.Now())}, true),
		s.Post(ctx, "parent", store.Message{Name: "gate", Data: []byte(`{"choice":"yes"}`)}))
	fmt.Println("begun", err)
	for seq := uint64(2); err == nil; seq++ {
		err = s.Append(ctx, "child", lease.Token, storetest.Records(seq, 1), false)
	}
	fmt.Println(err)
	os.Exit(1)
}

// A process that was killed leaves a lease of an hour. Another one on the same host takes it at once, and
// continues the journal. Before, it cannot take the lease of the living process, which answers it.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are identified on Linux only")
	}
	dsn := newDSN(t)
	s := open(t, dsn, Options{})
	begin(t, s, "parent")
	answered := make(chan string, 1)
	watching, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		defer close(answered)
		for m, err := range s.Watch(watching, "parent") {
			answered <- fmt.Sprintf("%s %s %v", m.Name, m.Data, err)
			return
		}
	}()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asHolder+"="+dsn)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun <nil>\n" {
		t.Fatalf("the process printed %q, %v", line, err)
	}
	if got := <-answered; got != `gate {"choice":"yes"} <nil>` {
		t.Errorf("the answer is %s", got)
	}
	var held *store.HeldError
	if _, err := s.Acquire(t.Context(), "child", ann, ttl); !errors.As(err, &held) || held.Lease.PID != child.Process.Pid {
		t.Errorf("the lease of a living process: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	if all := listOf(t, s, store.Query{Status: []string{store.StatusInterrupted}}); len(all) != 1 || all[0].Run != "child" || all[0].Holder != nil {
		t.Errorf("listed %+v", all)
	}
	if p, err := s.Prune(t.Context(), store.Query{Status: []string{store.StatusInterrupted}, DryRun: true}); err != nil || len(p.Runs) != 1 {
		t.Errorf("would prune %+v, %v", p, err)
	}
	lease, err := s.Acquire(t.Context(), "child", ann, ttl)
	if err != nil || lease.Token != 2 {
		t.Fatalf("the lease of a dead process: %+v, %v", lease, err)
	}
	n := uint64(count(t, s, "child"))
	if err := s.Append(t.Context(), "child", lease.Token, storetest.Records(n+1, 1), true); err != nil {
		t.Error(err)
	}
}

// Only processes that are certain to have ended are dead.
func TestHasEnded(t *testing.T) {
	own := thisProcess()
	if own == "" {
		t.Skip("processes are not identified on this system")
	}
	s := &Store{process: own}
	var boot, namespace, pid, start string
	fmt.Sscan(own, &boot, &namespace, &pid, &start)
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Skip(err)
	}
	for process, want := range map[string]bool{
		own: false,
		fmt.Sprintln(boot, namespace, pid, start+"1"):           true, // another process has the id now
		fmt.Sprintln(boot, namespace, child.Process.Pid, start): true,
		fmt.Sprintln(boot, "pid:[1]", child.Process.Pid, start): false, // of another container
		fmt.Sprintln("x", namespace, child.Process.Pid, start):  false, // of another machine
		fmt.Sprintln(boot, namespace, 0, start):                 false,
		"":                                                      false,
	} {
		if got := s.hasEnded(process); got != want {
			t.Errorf("%q: %v, want %v", process, got, want)
		}
	}
}

// A message is noticed at once, and within a second if its notification is lost.
func TestNotified(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	begin(t, s, "r1")
	names := make(chan string)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for m, err := range s.Watch(ctx, "r1") {
			if err != nil {
				t.Error(err)
			}
			names <- m.Name
		}
	})
	await := func(name string, add func() error) time.Duration {
		begun := time.Now()
		if err := add(); err != nil {
			t.Error(err)
		}
		if got := <-names; got != name {
			t.Errorf("noticed %s, want %s", got, name)
		}
		return time.Since(begun)
	}
	post := func(name string) time.Duration {
		return await(name, func() error { return s.Post(t.Context(), "r1", store.Message{Name: name, Data: []byte("{}")}) })
	}
	post("first") // it may come before the connection that listens
	var took []time.Duration
	for i := range 9 {
		took = append(took, post(fmt.Sprint("m", i)))
	}
	slices.Sort(took)
	if took[4] > pollEvery/4 { // without notifications, half of them take longer than pollEvery/2
		t.Errorf("noticed after %v", took)
	}
	silent := await("silent", func() error {
		_, err := s.pool.Exec(t.Context(), "INSERT INTO wavefold_messages VALUES ('r1', 'silent', clock_timestamp(), '{}')")
		return err
	})
	if silent > 10*pollEvery {
		t.Errorf("a message without a notification was noticed after %v", silent)
	}
	stop()
	watching.Wait()
}
