// SPDX-License-Identifier: Apache-2.0

package release

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/utils"
)

// A binary is a program of an archive, and its build information.
type binary struct {
	file    *spdx.File
	info    *buildinfo.BuildInfo
	usesCgo bool
}

// read reads the build information of a binary.
func read(dir, name string) (binary, error) {
	path := filepath.Join(dir, name)
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return binary{}, fmt.Errorf("modules of %s: %w", path, err)
	}
	sha1, sha256, _, err := utils.GetHashesForFilePath(path)
	if err != nil {
		return binary{}, err
	}
	if err := static(path); err != nil {
		return binary{}, err
	}
	b := binary{info: info, file: &spdx.File{
		FileName:           "./bin/" + name,
		FileSPDXIdentifier: id("File", name),
		FileTypes:          []string{"BINARY"},
		Checksums:          []common.Checksum{{Algorithm: common.SHA1, Value: sha1}, {Algorithm: common.SHA256, Value: sha256}},
		LicenseConcluded:   noAssertion,
		LicenseInfoInFiles: []string{noAssertion},
		FileCopyrightText:  noAssertion,
	}}
	for _, s := range info.Settings {
		b.usesCgo = b.usesCgo || s.Key == "CGO_ENABLED" && s.Value == "1"
	}
	return b, nil
}

// static fails for a binary that needs an interpreter, and so libraries of the node.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			loader, _ := io.ReadAll(p.Open())
			return fmt.Errorf("%s is linked with libraries of the node (%s)", path, loader)
		}
	}
	return nil
}

// writeTo creates a file and calls write for its content.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
