// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// largest is how large a program of an archive may be, in bytes.
const largest = 1 << 30

// Unpack puts the programs of an archive into a folder.
func Unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	r := tar.NewReader(packed)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		folder, name := path.Split(path.Clean(header.Name))
		if header.Typeflag != tar.TypeReg || folder != "bin/" {
			continue
		}
		if header.Size > largest {
			return fmt.Errorf("%s: %s has %d bytes, want %d at most", archive, header.Name, header.Size, largest)
		}
		if err := unpackFile(filepath.Join(dir, name), r); err != nil {
			return fmt.Errorf("%s: %s: %w", archive, header.Name, err)
		}
	}
}

func unpackFile(name string, content io.Reader) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
