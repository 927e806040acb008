package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/store"
)

func testMessages(t *testing.T, s store.Store) {
	begin(t, s, "r1")
	begin(t, s, "r2")
	if got, err := s.Inbox(t.Context(), "r1"); err != nil || len(got) != 0 {
		t.Errorf("the inbox has %v, %v", got, err)
	}
	names := []string{"gate#1.1", "outer[3]/gate#1.1", "../x", ".", "cancel", "é"}
	for i, name := range names {
		if err := s.Post(t.Context(), "r1", store.Message{Name: name, Data: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Inbox(t.Context(), "r1")
	if err != nil || len(got) != len(names) {
		t.Fatalf("the inbox has %v, %v", got, err)
	}
	for i, m := range got {
		if at := slices.Index(names, m.Name); at < 0 || string(m.Data) != fmt.Sprint(at) || m.Posted.IsZero() {
			t.Errorf("message %q of %v: %s", m.Name, m.Posted, m.Data)
		}
		if i > 0 && m.Posted.Before(got[i-1].Posted) {
			t.Errorf("message %q comes after a later one", m.Name)
		}
	}
	if err := s.Post(t.Context(), "r2", store.Message{Name: "cancel", Data: []byte("{}")}); err != nil {
		t.Errorf("the same name in another run: %v", err)
	}
	for _, m := range []store.Message{{}, {Data: []byte("{}")}, {Name: "m"}, {Name: "m", Data: []byte("{")}} {
		if err := s.Post(t.Context(), "r2", m); err == nil {
			t.Errorf("message %+v was posted", m)
		}
	}
}

func testFirstMessage(t *testing.T, s store.Store) {
	begin(t, s, "r1")
	var mu sync.Mutex
	var won string
	var lost []string
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			data := fmt.Sprintf(`{"answer":%d}`, i)
			err := s.Post(t.Context(), "r1", store.Message{Name: "gate#1.1", Data: []byte(data)})
			mu.Lock()
			defer mu.Unlock()
			var taken *store.TakenError
			switch {
			case err == nil && won == "":
				won = data
			case errors.As(err, &taken) && errors.Is(err, store.ErrTaken):
				lost = append(lost, string(taken.First.Data))
			default:
				t.Errorf("%s: %v", data, err)
			}
		})
	}
	wg.Wait()
	if lost = slices.Compact(lost); len(lost) != 1 || lost[0] != won {
		t.Errorf("%q was posted, the others were told of %q", won, lost)
	}
	if got, err := s.Inbox(t.Context(), "r1"); err != nil || len(got) != 1 || string(got[0].Data) != won {
		t.Errorf("the inbox has %v, %v", got, err)
	}
}

func testWatch(t *testing.T, s store.Store) {
	begin(t, s, "r1")
	post := func(name string) {
		if err := s.Post(t.Context(), "r1", store.Message{Name: name, Data: fmt.Appendf(nil, "%q", name)}); err != nil {
			t.Error(err)
		}
	}
	post("first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for m, err := range s.Watch(ctx, "r1") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Name+"="+string(m.Data))
		switch m.Name {
		case "first":
			post("second")
		case "second":
			post("third")
		default:
			cancel()
		}
	}
	if want := []string{`first="first"`, `second="second"`, `third="third"`}; !slices.Equal(got, want) {
		t.Errorf("watched %q, want %q", got, want)
	}
	for range s.Watch(t.Context(), "r1") {
		break // a watcher may stop early
	}
}

func testBlobs(t *testing.T, s store.Store) {
	for _, data := range []string{"", "x", strings.Repeat("large ", 50_000)} {
		for range 2 {
			sum, err := s.Put(t.Context(), []byte(data))
			if err != nil || sum != store.BlobName([]byte(data)) {
				t.Fatalf("put: %q, %v", sum, err)
			}
		}
		got, err := s.Get(t.Context(), store.BlobName([]byte(data)))
		if err != nil || string(got) != data {
			t.Errorf("got %d bytes, %v; want %d", len(got), err, len(data))
		}
	}
	for _, sum := range []string{store.BlobName([]byte("missing")), "", "sha256:../../x", strings.Repeat("x", 71)} {
		var damage *store.DamageError
		if _, err := s.Get(t.Context(), sum); !errors.As(err, &damage) || damage.Blob != sum || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("get %q: %v", sum, err)
		}
	}
}
