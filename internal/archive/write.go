// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// File is a file of an archive: its name there, its mode, and its source.
type File struct {
	Name string // with slashes, "bin/ctr"
	Mode fs.FileMode
	From string
}

// FilesBelow lists the files below a folder, in order, with names below prefix.
func FilesBelow(dir, prefix string, mode fs.FileMode) ([]File, error) {
	var files []File
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		files = append(files, File{Name: path.Join(prefix, filepath.ToSlash(below)), Mode: mode, From: name})
		return err
	})
	return files, err
}

// Write writes files as a compressed tar archive, each after its folders. All of them
// have the same time.
func Write(name string, files []File, when time.Time) (err error) {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	folders := map[string]bool{".": true}
	for _, f := range files {
		if err := enter(w, path.Dir(f.Name), folders, when); err != nil {
			return err
		}
		if err := add(w, f, when); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return errors.Join(w.Close(), packed.Close())
}

// enter writes a folder, and those around it, unless they were written before.
func enter(w *tar.Writer, folder string, written map[string]bool, when time.Time) error {
	if written[folder] {
		return nil
	}
	if err := enter(w, path.Dir(folder), written, when); err != nil {
		return err
	}
	written[folder] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: when, Format: tar.FormatPAX})
}

func add(w *tar.Writer, f File, when time.Time) error {
	in, err := os.Open(f.From)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: info.Size(), Mode: int64(f.Mode.Perm()), ModTime: when, Format: tar.FormatPAX}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
