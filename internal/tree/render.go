// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// plan is the target state of one repository: a base, and a change per patch.
type plan struct {
	Source
	key     string // of the base commit
	refs    string // prefix of the references of its commits, which are named by key
	changes []change
}

// change is the result of a patch on top of the patches before it.
type change struct {
	patch edit.Patch
	files map[string][]byte // nil: removed
	key   string
}

func fate(content []byte) string {
	if content == nil {
		return "removed"
	}
	return "written"
}

// generation is part of every key. It changes when commits of the same content get another form:
// another identity, date or message.
const generation = "hookline tree 2"

// render applies the whole series in memory. It stops at the first patch that does not fit, so
// that nothing is written then.
func render(series edit.Series, sources []Source, own fs.FS) ([]plan, error) {
	plans := make([]plan, 0, len(sources))
	for _, s := range sources {
		p := plan{Source: s, refs: refs, key: key(generation, s.Path, s.Version, s.Sum)}
		err := eachPatch(series, s, own, func(patch edit.Patch, files map[string][]byte, err error) error {
			if err != nil {
				return err
			}
			parent := p.key
			if n := len(p.changes); n > 0 {
				parent = p.changes[n-1].key
			}
			parts := []string{parent, patch.Name(), message(patch, repository(s.Path))}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				parts = append(parts, name, fate(files[name]), string(files[name]))
			}
			p.changes = append(p.changes, change{patch, files, key(parts...)})
			return nil
		})
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// eachPatch applies the patches of one module, one on top of the other, and passes each result to
// then. The next patches are applied without one that does not fit.
func eachPatch(series edit.Series, s Source, own fs.FS, then func(edit.Patch, map[string][]byte, error) error) error {
	upstream := overlay{os.DirFS(s.Dir), map[string][]byte{}}
	series = series.At(s.Name, s.Version)
	for _, patch := range series.Patches {
		if patch.Module != s.Name {
			continue
		}
		files, err := patch.Apply(series, upstream, own)
		if err := then(patch, files, err); err != nil {
			return err
		}
		maps.Copy(upstream.files, files)
	}
	return nil
}

// key hashes parts, so that different lists of parts have different keys.
func key(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		part(sum, p)
	}
	return hex.EncodeToString(sum.Sum(nil))[:40]
}

func part(sum hash.Hash, s string) {
	fmt.Fprintf(sum, "%d:", len(s))
	_, _ = io.WriteString(sum, s)
}

// message returns a patch's commit message: its text, and its threads as upstream's repository
// names them.
func message(p edit.Patch, self string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", p.Subject, wrapped(p.Body))
	var lines []string
	for _, ref := range p.Fixes {
		lines = append(lines, "Fixes: "+strings.TrimPrefix(ref, self))
	}
	for _, ref := range p.Refs {
		lines = append(lines, "See: "+strings.TrimPrefix(ref, self))
	}
	if len(lines) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(lines, "\n"))
	}
	return b.String()
}

// wrapped returns a text with its paragraphs wrapped as upstream wants them. Lists and indented
// lines stay.
func wrapped(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "-") || strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") || strings.Contains(p, "\n-") {
			continue
		}
		var lines []string
		line := ""
		for _, word := range strings.Fields(p) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > maxColumns {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		paragraphs[i] = strings.Join(append(lines, line), "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}

// repository returns the project of a module, as upstream's threads name it: "containerd/nri".
func repository(module string) string {
	parts := strings.Split(module, "/")
	if len(parts) < 3 {
		return ""
	}
	return parts[1] + "/" + parts[2]
}

func baseMessage(s Source) string {
	return fmt.Sprintf("%s %s\n\nThe module as published.\n\nModule: %s\nChecksum: %s\n", s.Name, s.Version, s.Path, s.Sum)
}
