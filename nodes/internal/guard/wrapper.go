package guard

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// wrapper describes programs that start a command given in their arguments.
type wrapper struct {
	names string
	// operands is the number of operands before the command, such as the time of timeout.
	operands int
	// values matches options whose value is the next argument.
	values string
	// starts matches options after which a command begins. If it is empty, the command
	// follows the operands.
	starts string
	// anywhere means that the place of the command is not known. It is found by the
	// names of interpreters, unless it follows --.
	anywhere bool
}

var wrappers = []wrapper{
	{names: "env", values: `^-[uCS]$|^--(unset|chdir|split-string)$`},
	{names: "sudo doas", values: `^-[ugpChDRTtrU]$|^--(user|group|prompt|close-from|host|chdir|chroot|command-timeout|role|type|other-user)$`},
	{names: "nice ionice chrt choom", values: `^-[ncPuTD]$|^--(adjustment|class|classdata)$`},
	{names: "nohup setsid busybox toybox dbus-run-session fakeroot chronic unbuffer catchsegv caffeinate tini dumb-init proot valgrind linux32 linux64", values: `^-[g]$`},
	{names: "time", values: `^-[fo]$|^--(format|output)$`},
	{names: "timeout", operands: 1, values: `^-[ks]$|^--(kill-after|signal)$`},
	{names: "stdbuf", values: `^-[ioe]$|^--(input|output|error)$`},
	{names: "strace ltrace", values: `^-[abeEIopPsSuUXx]$`},
	{names: "flock", operands: 1, values: `^-[wE]$|^--(timeout|wait|conflict-exit-code)$`},
	{names: "unshare nsenter setpriv prlimit numactl", values: `^-[RwSGltiNmCp]$|^--(root|wd|setuid|setgid|target|reuid|regid|groups|map-user|map-group|cpunodebind|membind|physcpubind)$`},
	{names: "systemd-run", values: `^-[pEMHut]$|^--(property|unit|setenv|slice|uid|gid|nice|working-directory|description)$`},
	{names: "chroot taskset setarch gosu su-exec setuidgid", operands: 1},
	{names: "runcon", operands: 1, values: `^-[turl]$`},
	{names: "firejail bwrap xvfb-run rlwrap entr watchexec cpulimit perf npx bunx uv poetry pipenv bundle mise direnv op nix nix-shell", anywhere: true},
	{names: "xargs", values: `^-[anLPsdEI]$|^--(arg-file|max-args|max-procs|max-chars|max-lines|delimiter)$`},
	{names: "docker podman nerdctl kubectl oc lxc flatpak apptainer singularity srun mpirun", anywhere: true},
	{names: "find", starts: `^-(exec|execdir|ok|okdir)$`},
	{names: "fd fdfind", starts: `^(-x|-X|--exec|--exec-batch)$`},
}

func wrapperOf(name string) *wrapper {
	for i := range wrappers {
		if slices.Contains(strings.Fields(wrappers[i].names), name) {
			return &wrappers[i]
		}
	}
	return nil
}

// commands returns the indexes at which commands begin: 0, and each command that is
// started by a wrapper before it.
func commands(argv []string) []int {
	starts := []int{0}
	for k := 0; k < len(starts); k++ {
		w := wrapperOf(programName(argv[starts[k]]))
		if w == nil {
			continue
		}
		for _, i := range w.commands(argv, starts[k]+1) {
			if i < len(argv) && !slices.Contains(starts, i) {
				starts = append(starts, i)
			}
		}
	}
	return starts
}

// commands returns the indexes of the commands that the wrapper starts. The wrapper's
// arguments begin at from.
func (w *wrapper) commands(argv []string, from int) []int {
	var found []int
	end := slices.Index(argv[from:], "--") + from
	switch {
	case w.starts != "":
		for i := from; i < len(argv); i++ {
			if matches(w.starts, argv[i]) {
				found = append(found, i+1)
			}
		}
		return found
	case w.anywhere && end >= from:
		return []int{end + 1}
	case w.anywhere:
		for i := from; i < len(argv); i++ {
			if interpreterOf(programName(argv[i])) != nil {
				found = append(found, i)
			}
		}
		return found
	}
	return []int{w.command(argv, from)}
}

var assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// command returns the index of the first argument that is not an option of the wrapper,
// a variable that it sets, or one of its operands.
func (w *wrapper) command(argv []string, from int) int {
	operands, ended := w.operands, false
	for i := from; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case !ended && arg == "--":
			ended = true
		case !ended && len(arg) > 1 && arg[0] == '-':
			if matches(w.values, arg) {
				i++
			}
		case assignment.MatchString(arg):
		case operands > 0:
			operands--
		default:
			return i
		}
	}
	return len(argv)
}
