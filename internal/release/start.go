// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// qemu has the name of QEMU's user mode emulation of an architecture.
var qemu = map[string]string{"amd64": "qemu-x86_64", "arm64": "qemu-aarch64"}

// Runner returns the command that runs programs of an architecture: none on a machine of that
// kind, QEMU elsewhere, which must be installed.
func Runner(arch string) ([]string, error) {
	if arch == runtime.GOARCH {
		return nil, nil
	}
	name, ok := qemu[arch]
	if !ok {
		return nil, fmt.Errorf("nothing emulates %s here", arch)
	}
	for _, program := range []string{name, name + "-static"} {
		if path, err := exec.LookPath(program); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("no %s on the PATH: binaries are started before they are released, install qemu-user", name)
}

// A Start is a program to run and the texts that it must print. With TOML, its output must be
// TOML, too.
type Start struct {
	Args []string // of the binary, which is the first
	Says []string
	TOML bool
}

// emulated is how long a program may take in an emulator on a busy machine.
const emulated = 2 * time.Minute

// Run runs starts with the binaries of a folder. It fails at the first one whose output is not as
// expected.
func Run(ctx context.Context, runner []string, dir string, starts []Start) error {
	for _, s := range starts {
		if err := s.run(ctx, runner, dir); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(append(runner[:len(runner):len(runner)], s.Args...), " "), err)
		}
	}
	return nil
}

func (s Start) run(ctx context.Context, runner []string, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, emulated)
	defer cancel()
	line := append(runner[:len(runner):len(runner)], filepath.Join(dir, s.Args[0]))
	line = append(line, s.Args[1:]...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	for _, want := range s.Says {
		if !bytes.Contains(out, []byte(want)) {
			return fmt.Errorf("its output lacks %q: %s", want, strings.TrimSpace(string(out)))
		}
	}
	if !s.TOML {
		return nil
	}
	var tables map[string]any
	if err := toml.Unmarshal(out, &tables); err != nil {
		return fmt.Errorf("its output is not TOML: %w", err)
	}
	if len(tables) == 0 {
		return fmt.Errorf("its output is empty")
	}
	return nil
}
