// SPDX-License-Identifier: Apache-2.0

package crossvet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// The folder lib and the folders that import it are checked, with their tests. Other packages
// that they import count only by their types, and files for another platform do not count.
const source = `
-- go.mod --
module example.com/m

go 1.24
-- lib/lib.go --
package lib

import "example.com/m/deep"

func Lib() int { return deep.Deep() }
-- lib/lib_windows.go --
package lib

func onlyThere() int { return "not there" }
-- lib/lib_linux.go --
package lib

func onlyHere() int { return "not here" }
-- lib/lib_test.go --
package lib

import (
	"fmt"
	"testing"
)

func TestLib(t *testing.T) { fmt.Printf("%d\n", "in the package") }
-- lib/outside_test.go --
package lib_test

import (
	"testing"

	"example.com/m/lib"
)

func TestLib(t *testing.T) { var s string = lib.Lib(); _ = s }
-- user/user.go --
package user

import "example.com/m/lib"

func User() string { return lib.Lib() }
-- user/user_test.go --
package user

import "testing"

func TestUser(t *testing.T) { missing() }
-- deep/deep.go --
package deep

func Deep() int { return "this is not read" }
-- other/other.go --
package other

import "example.com/m/user"

func Other() int { return user.User() }
`

func TestFindings(t *testing.T) {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(source)).Files {
		name := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, f.Data, 0o644))
	}
	m := Module{Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")}
	findings := func(os string) []string {
		found, err := m.Findings(t.Context(), Platform{os, "amd64"}, []string{"./lib"})
		require.NoError(t, err)
		var out []string
		for _, f := range found {
			out = append(out, f.File+": "+f.Says)
		}
		return out
	}
	everywhere := []string{
		`lib/lib_test.go: fmt.Printf format %d has arg "in the package" of wrong type string (printf)`,
		`lib/outside_test.go: cannot use lib.Lib() (value of type int) as string value in variable declaration`,
		`user/user.go: cannot use lib.Lib() (value of type int) as string value in return statement`,
		`user/user_test.go: undefined: missing`,
	}
	require.Equal(t, everywhere, findings("freebsd"))
	// A package that has errors is not vetted.
	require.Equal(t, append([]string{`lib/lib_windows.go: cannot use "not there" (untyped string constant) as int value in return statement`}, everywhere[1:]...),
		findings("windows"))
}

func TestFindings_NoModule(t *testing.T) {
	_, err := Module{Dir: t.TempDir(), Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")}.Findings(t.Context(), Platform{"windows", "amd64"}, []string{"."})
	require.ErrorContains(t, err, "load packages for windows/amd64")
}
