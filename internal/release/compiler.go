// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

var glibc = regexp.MustCompile(`(?m)^#define (__GLIBC__|__GLIBC_MINOR__) (\d+)$`)

// AskCompiler asks the C compiler of a platform for its version, and for that of the libc whose
// headers and static library it uses.
func AskCompiler(ctx context.Context, arch, cc string) (Compiler, error) {
	c := Compiler{Arch: arch}
	fields := strings.Fields(cc) // flags may follow
	if len(fields) == 0 {
		return c, fmt.Errorf("no C compiler for %s", arch)
	}
	said, err := exec.CommandContext(ctx, fields[0], "--version").Output()
	if err != nil {
		return c, fmt.Errorf("%s --version: %w", fields[0], err)
	}
	c.Compiler, _, _ = strings.Cut(string(said), "\n")
	preprocess := exec.CommandContext(ctx, fields[0], append(fields[1:], "-E", "-dM", "-x", "c", "-")...)
	preprocess.Stdin = strings.NewReader("#include <features.h>\n")
	defined, err := preprocess.Output()
	if err != nil {
		return c, fmt.Errorf("%s has no headers of libc for %s: install its development package: %w", fields[0], arch, err)
	}
	version := map[string]string{}
	for _, m := range glibc.FindAllStringSubmatch(string(defined), -1) {
		version[m[1]] = m[2]
	}
	c.Libc = version["__GLIBC__"] + "." + version["__GLIBC_MINOR__"]
	if c.Libc == "." {
		return c, fmt.Errorf("%s: the libc of %s does not say its version", fields[0], arch)
	}
	return c, nil
}
