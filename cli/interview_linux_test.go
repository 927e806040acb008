package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
)

// terminal is a pseudo-terminal with a simulated user who types a line at each prompt.
type terminal struct {
	mu     sync.Mutex
	screen bytes.Buffer
	done   chan struct{}
}

// openTerminal opens a pseudo-terminal and returns the side that programs use.
func openTerminal(t *testing.T, lines ...string) (*terminal, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	var n uint32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&n))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&n))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	x := &terminal{done: make(chan struct{})}
	go x.use(master, lines)
	t.Cleanup(func() { slave.Close(); <-x.done; master.Close() })
	return x, slave
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		t.Skip(errno)
	}
}

// use records the output, and types the next line at each prompt. ^D ends the input.
func (x *terminal) use(master *os.File, lines []string) {
	defer close(x.done)
	b := make([]byte, 4096)
	for prompts := 0; ; {
		n, err := master.Read(b)
		x.mu.Lock()
		x.screen.Write(b[:n])
		shown := strings.Count(x.screen.String(), "\n> ")
		x.mu.Unlock()
		if err != nil { // the other side is closed
			return
		}
		for ; prompts < shown && prompts < len(lines); prompts++ {
			line := lines[prompts] + "\n"
			if lines[prompts] == "^D" {
				line = "\x04"
			}
			if _, err := master.WriteString(line); err != nil {
				return
			}
		}
	}
}

const gateDocument = `digraph Review {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  gate [shape=hexagon, label="Ship it?"]
  ship [shape=insulator, duration=1ms]
  edit [shape=insulator, duration=1ms]
  start -> gate
  gate -> ship [label="[A] Approve"]
  gate -> edit [label="[R] Revise"]
  edit -> gate
  ship -> exit
}
`

// A gate asks its question at the terminal. The display of the run is suspended and
// restored.
func TestGateAtTheTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "review.dot")
	if err := os.WriteFile(file, []byte(gateDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		flags []string
		typed []string
		code  int
		want  []string // in this order
		not   string
	}{
		{"tree", nil, []string{"maybe", "r", "A"}, 0, []string{
			"\x1b[?25l", "of 5 nodes", "\x1b[J\x1b[?25h", "gate: Ship it?\r\n  [A] Approve\r\n  [R] Revise\r\n> maybe\r\n", // the cursor is visible during the question
			"\x1b[?25l", "gate", "\x1b[J\x1b[?25h", "\"maybe\" is none of the choices\r\n", "> r\r\n",
			"\x1b[?25l", "gate", "\x1b[J\x1b[?25h", "> A\r\n"}, ""},
		{"lines", []string{"--log", "lines"}, []string{"a"}, 0, []string{
			"node.started   gate", "node.asked     gate  Ship it?\r\n", "gate: Ship it?\r\n", "> a\r\n", "node.answered  gate  [A] Approve -> ship", "run.finished"}, ""},
		{"quiet", []string{"-q"}, []string{"a"}, 0, []string{"gate: Ship it?\r\n", "> a\r\n"}, "node.asked"},
		{"end of input", []string{"-q"}, []string{"^D"}, 1, []string{"gate: Ship it?", "wavefold: node gate: nobody answered: the input has ended"}, ""},
		{"approved", []string{"--auto-approve", "--log", "lines"}, nil, 0, []string{"node.answered  gate  [A] Approve -> ship"}, "> "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, end := openTerminal(t, tt.typed...)
			var out bytes.Buffer
			code := cli.Run(t.Context(), wavefold.NewEngine(std.Kinds()...), append(append([]string{"run", "--color", "never"}, tt.flags...), file),
				cli.Streams{In: end, Out: &out, Err: end, Getenv: noStore})
			end.Close()
			<-x.done
			screen := x.screen.String()
			rest, found := screen, true
			for _, want := range tt.want {
				if _, rest, found = strings.Cut(rest, want); !found {
					t.Errorf("the screen lacks %q behind the others", want)
					break
				}
			}
			if code != tt.code || tt.not != "" && strings.Contains(strings.ReplaceAll(screen, "-> ", ""), tt.not) || t.Failed() {
				t.Errorf("code %d, want %d; the screen:\n%q", code, tt.code, screen)
			}
		})
	}
}
