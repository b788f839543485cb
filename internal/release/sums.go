// SPDX-License-Identifier: Apache-2.0

package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sumOf returns the SHA-256 of a file.
func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sums returns a text for sha256sum -c, in the folder of the files.
func sums(names ...string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		sum, err := sumOf(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, filepath.Base(name))
	}
	return out.String(), nil
}

// CheckSum compares a file with NAME.sha256sum beside it.
func CheckSum(name string) error {
	content, err := os.ReadFile(name + ".sha256sum")
	if err != nil {
		return fmt.Errorf("%w: download it beside the archive", err)
	}
	is, err := sums(name)
	if err != nil {
		return err
	}
	if is != string(content) {
		return fmt.Errorf("%s does not match %s.sha256sum: download both again", name, filepath.Base(name))
	}
	return nil
}
