// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/internal/archive"
)

// A Build has the binaries for one architecture.
type Build struct {
	Compiler
	Dir     string // folder with the programs
	Program string // a program that the release has as a file of its own, none if empty
}

// Write writes a release into an empty folder: an archive of the programs of each build, the
// series, which is read from a folder, the files that describe both, and the files of evidence.
// Its caller must have started the binaries before.
func Write(dir string, o Origin, builds []Build, programs []string, series string, evidence ...archive.File) error {
	version := strings.TrimPrefix(o.Version, "v")
	var written []string
	put := func(name string) string {
		written = append(written, filepath.Join(dir, name))
		return written[len(written)-1]
	}
	for _, b := range builds {
		o.Platforms = append(o.Platforms, b.Compiler)
	}
	for _, b := range builds {
		name := fmt.Sprintf("containerd-static-%s-linux-%s", version, b.Arch)
		packed := put(name + ".tar.gz")
		var files []archive.File
		for _, program := range programs {
			files = append(files, archive.File{Name: "bin/" + program, Mode: 0o755, From: filepath.Join(b.Dir, program)})
		}
		if err := archive.Write(packed, files, o.Time); err != nil {
			return fmt.Errorf("%s: %w", packed, err)
		}
		sum, err := archive.Sums(packed)
		if err != nil {
			return err
		}
		if err := os.WriteFile(put(name+".tar.gz.sha256sum"), []byte(sum), 0o644); err != nil {
			return err
		}
		if err := writeSBOM(put(name+".spdx.json"), described{"containerd", packed, "ARCHIVE"}, b.Dir, programs, o, b.Libc); err != nil {
			return err
		}
		if b.Program == "" {
			continue
		}
		name = fmt.Sprintf("%s-%s-linux-%s", filepath.Base(b.Program), version, b.Arch)
		of := described{filepath.Base(b.Program), put(name), "APPLICATION"}
		if err := copyFile(archive.File{From: b.Program, Mode: 0o755}, of.file); err != nil {
			return err
		}
		if err := writeSBOM(put(name+".spdx.json"), of, filepath.Dir(b.Program), []string{of.name}, o, ""); err != nil {
			return err
		}
	}
	mails, err := archive.FilesBelow(series, "hookline-"+version+"-series", 0o644)
	if err != nil {
		return err
	}
	if err := archive.Write(put("hookline-"+version+"-series.tar.gz"), mails, o.Time); err != nil {
		return err
	}
	if err := o.write(put("hookline-" + version + "-origin.json")); err != nil {
		return err
	}
	for _, e := range evidence {
		if err := copyFile(e, put("hookline-"+version+"-"+e.Name)); err != nil {
			return fmt.Errorf("evidence of a release: %w", err)
		}
	}
	all, err := archive.Sums(written...)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(all), 0o644)
}

func copyFile(f archive.File, to string) error {
	content, err := os.ReadFile(f.From)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, f.Mode)
}
