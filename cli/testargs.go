package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mockTest is a mock file and the workflow that it tests.
type mockTest struct{ mock, workflow string }

// testsOf separates the arguments into mock files and at most one workflow. A folder means
// the mock files in it or, together with a mock file, the workflow in it. A single file is
// a mock file even if its name does not look like one.
func testsOf(args []string) ([]mockTest, error) {
	var mocks, others []string
	named := slices.ContainsFunc(args, isMock)
	for _, arg := range args {
		switch info, err := os.Stat(arg); {
		case isMock(arg):
			mocks = append(mocks, arg)
		case !named && err == nil && info.IsDir():
			found, err := filepath.Glob(filepath.Join(arg, "*.mock.*"))
			if err != nil {
				return nil, err
			}
			mocks = append(mocks, found...)
			if len(found) == 0 {
				return nil, fmt.Errorf("%s holds no file *.mock.yaml", arg)
			}
		default:
			others = append(others, arg)
		}
	}
	if len(mocks) == 0 {
		mocks, others = others[:1], others[1:]
	}
	if len(others) > 1 {
		return nil, fmt.Errorf("%s and %s are both no mock files; a test is for one workflow", others[0], others[1])
	}
	var tests []mockTest
	for _, m := range mocks {
		t := mockTest{m, workflowBeside(m)}
		if len(others) == 1 {
			t.workflow = others[0]
		}
		tests = append(tests, t)
	}
	return tests, nil
}

func isMock(path string) bool { return strings.Contains(filepath.Base(path), ".mock.") }

// workflowBeside returns the workflow next to a mock file: x.yaml, x.yml, x.json, x.dot or
// x.fabro for x.mock.yaml, or else the folder, which means the workflow in it.
func workflowBeside(mock string) string {
	name, ext, _ := strings.Cut(filepath.Base(mock), ".mock")
	for _, ext := range []string{ext, ".yml", ".json", ".dot", ".fabro"} {
		path := filepath.Join(filepath.Dir(mock), name+ext)
		if path == filepath.Clean(mock) {
			continue
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
	return filepath.Dir(mock)
}
