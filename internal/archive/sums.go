// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Sum returns the SHA-256 of a file.
func Sum(name string) (string, error) {
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

// Sums returns a text for sha256sum -c, in the folder of the files.
func Sums(names ...string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		sum, err := Sum(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, filepath.Base(name))
	}
	return out.String(), nil
}

// Listed returns the checksum that such a text has for a file of that name.
func Listed(sums []byte, name string) (string, error) {
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		if sum, of, ok := strings.Cut(lines.Text(), "  "); ok && of == name {
			return sum, nil
		}
	}
	return "", fmt.Errorf("%s is not in the list of checksums", name)
}
