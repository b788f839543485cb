// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Compare fails unless two folders have the same files with the same content. It returns the
// number of files.
func Compare(one, other string) (int, error) {
	names, err := list(one)
	if err != nil {
		return 0, err
	}
	others, err := list(other)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(names, others) {
		return 0, fmt.Errorf("%v in one, %v in the other", names, others)
	}
	if len(names) == 0 {
		return 0, fmt.Errorf("%s is empty", one)
	}
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			return 0, err
		}
		b, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(a, b) {
			return 0, fmt.Errorf("%s differs (%d bytes and %d)", name, len(a), len(b))
		}
	}
	return len(names), nil
}

func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
