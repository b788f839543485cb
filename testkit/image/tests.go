// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RunTests builds the program of the image, stores its path in program, and runs the tests of a
// package, a *testing.M. It returns the exit code. It prints its own errors.
func RunTests(tests interface{ Run() int }, program *string) (code int) {
	code, err := runTests(tests, program)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func runTests(tests interface{ Run() int }, program *string) (code int, err error) {
	folder, err := os.MkdirTemp("", "hookline")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	*program = filepath.Join(folder, "pause")
	if err := BuildProgram(context.Background(), *program); err != nil {
		return 1, err
	}
	return tests.Run(), nil
}
