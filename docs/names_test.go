package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inline = regexp.MustCompile("`([^`\n]+)`")
	ofPkg  = regexp.MustCompile(`(?:^|[^.$\w])([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	ofType = regexp.MustCompile(`(?:^|[^.\w])([A-Z]\w*)\.([A-Z]\w*)`)
)

// TestNames looks up every exported Go name that a page mentions: core.StrayError,
// Registry.AddKind.
func TestNames(t *testing.T) {
	known := exported(t)
	found := 0
	adrs, _ := filepath.Glob("adr/*.md") // the pattern is well-formed
	for _, page := range append(pages(t), adrs...) {
		var code []string
		for _, m := range inline.FindAllStringSubmatch(prose(t, page), -1) {
			code = append(code, m[1])
		}
		for _, text := range code {
			for _, m := range ofPkg.FindAllStringSubmatch(text, -1) {
				if !known[m[1]] {
					continue // not a package of ours
				}
				found++
				name := strings.TrimSuffix(m[1]+"."+m[2]+"."+m[3], ".")
				if !known[name] {
					t.Errorf("%s mentions %s, which does not exist", page, name)
				}
			}
			for _, m := range ofType.FindAllStringSubmatch(text, -1) {
				found++
				if !known[m[1]+"."+m[2]] {
					t.Errorf("%s mentions %s.%s, which does not exist", page, m[1], m[2])
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("looked up %d names", found)
	}
}

// exported lists the packages of the module, their exported names as package.Name and
// package.Type.Member, and members as Type.Member too.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "internal" || name == "peers") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := f.Name.Name
		known[pkg] = true
		for _, name := range names(f) {
			known[pkg+"."+name] = true
			known[name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// names lists the names a file declares at its top: Name, Type.Method, Type.Field.
func names(f *ast.File) []string {
	var list []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			list = append(list, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				list = append(list, specNames(s)...)
			}
		}
	}
	return list
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func specNames(s ast.Spec) []string {
	var list []string
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			list = append(list, n.Name)
		}
	case *ast.TypeSpec:
		list = append(list, s.Name.Name)
		var fields *ast.FieldList
		switch typ := s.Type.(type) {
		case *ast.StructType:
			fields = typ.Fields
		case *ast.InterfaceType:
			fields = typ.Methods
		}
		if fields == nil {
			return list
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				list = append(list, s.Name.Name+"."+n.Name)
			}
		}
	}
	return list
}
