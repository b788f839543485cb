// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// importer writes commits in the format of git fast-import: one process for
// all of them, no index, no work tree, and references that move at the very end.
type importer struct {
	w   *bufio.Writer
	err error
}

// write imports the base, unless from is its commit or one on top of it, and then the changes, as
// commits on top of from.
func (r repo) write(ctx context.Context, p plan, from string, changes []change) error {
	out, in := io.Pipe()
	go func() {
		i := &importer{w: bufio.NewWriterSize(in, 1<<16)}
		if from == "" {
			i.commit(p.refs+p.key, baseMessage(p.Source), "")
			i.tree(os.DirFS(p.Dir))
			from = p.refs + p.key
		}
		for _, c := range changes {
			i.commit(p.refs+c.key, message(c.patch, repository(p.Path)), from)
			for _, name := range slices.Sorted(maps.Keys(c.files)) {
				if c.files[name] == nil {
					i.printf("D %s\n", name)
					continue
				}
				i.file(name, c.files[name])
			}
			from = p.refs + c.key
		}
		i.printf("done\n")
		if i.err == nil {
			i.err = i.w.Flush()
		}
		_ = in.CloseWithError(i.err)
	}()
	_, err := r.gitWith(ctx, out, nil, "fast-import", "--quiet", "--done", "--date-format=raw")
	// If git exited early, this ends the writer.
	_ = out.CloseWithError(err)
	return err
}

func (i *importer) commit(ref, message, from string) {
	i.printf("commit %s\ncommitter %s <%s> %s\n", ref, identityName, identityEmail, identityDate)
	i.data([]byte(message))
	if from != "" {
		i.printf("from %s\n", from)
	}
}

// tree writes all files of a module. The module zip knows no modes.
func (i *importer) tree(module fs.FS) {
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		i.file(name, content)
		return i.err
	})
	if i.err == nil {
		i.err = err
	}
}

// file needs no quoting: names in a module have neither quotes nor newlines.
func (i *importer) file(name string, content []byte) {
	i.printf("M 100644 inline %s\n", name)
	i.data(content)
}

func (i *importer) data(content []byte) {
	i.printf("data %d\n", len(content))
	if i.err == nil {
		_, i.err = i.w.Write(content)
	}
	i.printf("\n")
}

func (i *importer) printf(format string, args ...any) {
	if i.err == nil {
		_, i.err = fmt.Fprintf(i.w, format, args...)
	}
}
