// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// overlay is a file system that replaces, adds and removes files of another one; a nil file is a
// removed one. It shows a patch the results of the patches before it, without writing anything.
type overlay struct {
	fs.FS
	files map[string][]byte
}

func (o overlay) ReadFile(name string) ([]byte, error) {
	if content, ok := o.files[name]; ok {
		if content == nil {
			return nil, notThere("read", name)
		}
		return bytes.Clone(content), nil
	}
	return fs.ReadFile(o.FS, name)
}

func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if content, ok := o.files[name]; ok {
		if content == nil {
			return nil, notThere("stat", name)
		}
		return fileInfo{name: path.Base(name), size: int64(len(content))}, nil
	}
	info, err := fs.Stat(o.FS, name)
	if err != nil && fs.ValidPath(name) && len(o.below(name)) > 0 {
		return fileInfo{name: path.Base(name), mode: fs.ModeDir}, nil
	}
	return info, err
}

func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	added := o.below(name)
	if err != nil && len(added) == 0 {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if content, ok := o.files[path.Join(name, e.Name())]; ok && content == nil {
			return true
		}
		return slices.ContainsFunc(added, func(a fs.DirEntry) bool { return a.Name() == e.Name() })
	})
	entries = append(entries, added...)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// below lists the entries of folder name that hold a file of the overlay.
func (o overlay) below(name string) []fs.DirEntry {
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	found := map[string]fs.DirEntry{}
	for file, content := range o.files {
		rest, ok := strings.CutPrefix(file, prefix)
		if !ok || content == nil {
			continue
		}
		entry, _, deeper := strings.Cut(rest, "/")
		var info fs.FileInfo = fileInfo{name: entry, size: int64(len(content))}
		if deeper {
			info = fileInfo{name: entry, mode: fs.ModeDir}
			if lower, err := fs.Stat(o.FS, prefix+entry); err == nil {
				info = lower
			}
		}
		found[entry] = fs.FileInfoToDirEntry(info)
	}
	entries := make([]fs.DirEntry, 0, len(found))
	for _, e := range found {
		entries = append(entries, e)
	}
	return entries
}

func (o overlay) Open(name string) (fs.File, error) {
	if content, ok := o.files[name]; ok {
		if content == nil {
			return nil, notThere("open", name)
		}
		info := fileInfo{name: path.Base(name), size: int64(len(content))}
		return &openFile{Reader: bytes.NewReader(content), info: info}, nil
	}
	info, err := o.Stat(name)
	if err != nil || !info.IsDir() {
		return o.FS.Open(name)
	}
	entries, err := o.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &openFile{Reader: bytes.NewReader(nil), info: info, entries: entries}, nil
}

func notThere(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode | 0o444 }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

// openFile is an open file of the overlay, or an open folder with its unread entries.
type openFile struct {
	*bytes.Reader
	info    fs.FileInfo
	entries []fs.DirEntry
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

func (f *openFile) Read(b []byte) (int, error) {
	if f.info.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
	}
	return f.Reader.Read(b)
}

func (f *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.entries) {
		n = len(f.entries)
	}
	read := f.entries[:n]
	f.entries = f.entries[n:]
	return read, nil
}
