// SPDX-License-Identifier: Apache-2.0

package release

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/package-url/packageurl-go"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
	"github.com/spdx/tools-golang/utils"

	"github.com/hookline-nri/hookline/internal/archive"
)

const noAssertion = "NOASSERTION"

// sbom is an SPDX document in the making.
type sbom struct {
	*spdx.Document
	origin Origin
	libc   string
	known  map[common.ElementID]bool // packages that are in it
}

// described is a file that an SBOM is about.
type described struct {
	name    string // of the product
	file    string // path
	purpose string // in SPDX's words
}

// writeSBOM describes an archive or a program: its binaries, which are in folder bin, the modules
// that each links, and which of them are patched. The list of modules comes from the binaries.
func writeSBOM(name string, of described, bin string, programs []string, o Origin, libc string) error {
	sum, err := archive.Sum(of.file)
	if err != nil {
		return err
	}
	short := filepath.Base(of.file)
	d := &sbom{origin: o, libc: libc, known: map[common.ElementID]bool{}, Document: &spdx.Document{
		SPDXVersion:       spdx.Version,
		DataLicense:       spdx.DataLicense,
		SPDXIdentifier:    "DOCUMENT",
		DocumentName:      short,
		DocumentNamespace: "https://spdx.org/spdxdocs/" + short + "-" + sum,
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "hookline-hack"}},
			Created:  o.Time.UTC().Format(time.RFC3339),
		},
	}}
	whole := &spdx.Package{
		PackageName:                 of.name,
		PackageSPDXIdentifier:       "Package-archive",
		PackageVersion:              o.Version,
		PackageFileName:             short,
		PackageDownloadLocation:     noAssertion,
		FilesAnalyzed:               true,
		IsFilesAnalyzedTagPresent:   true,
		PackageChecksums:            []common.Checksum{{Algorithm: common.SHA256, Value: sum}},
		PackageSourceInfo:           "revision " + o.Revision + " of the patch set, of commit " + o.Commit,
		PackageLicenseConcluded:     noAssertion,
		PackageLicenseInfoFromFiles: []string{noAssertion},
		PackageLicenseDeclared:      "Apache-2.0",
		PackageCopyrightText:        noAssertion,
		PrimaryPackagePurpose:       of.purpose,
	}
	d.Packages = append(d.Packages, whole)
	d.relate("DOCUMENT", common.TypeRelationshipDescribe, whole.PackageSPDXIdentifier)
	for _, program := range programs {
		b, err := read(bin, program)
		if err != nil {
			return err
		}
		d.Files = append(d.Files, b.file)
		d.relate(whole.PackageSPDXIdentifier, common.TypeRelationshipContains, b.file.FileSPDXIdentifier)
		d.links(b)
	}
	code, err := utils.GetVerificationCode(d.Files, "")
	if err != nil {
		return err
	}
	whole.PackageVerificationCode = &code
	slices.SortFunc(d.Packages[1:], func(a, b *spdx.Package) int {
		return strings.Compare(string(a.PackageSPDXIdentifier), string(b.PackageSPDXIdentifier))
	})
	if err := errors.Join(spdxlib.ValidateDocument(d.Document), d.defined()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeTo(name, func(w io.Writer) error { return json.Write(d.Document, w, json.Indent("  ")) })
}

// links adds the modules that a binary links.
func (d *sbom) links(b binary) {
	parts := []common.ElementID{d.library("stdlib", strings.TrimPrefix(b.info.GoVersion, "go"), golang("", "stdlib", strings.TrimPrefix(b.info.GoVersion, "go")), "BSD-3-Clause")}
	if b.usesCgo {
		parts = append(parts, d.library("glibc", d.libc, packageurl.NewPackageURL(packageurl.TypeGeneric, "", "glibc", d.libc, nil, "").String(), "LGPL-2.1-or-later"))
	}
	modules := map[string]*debug.Module{}
	for _, m := range append(slices.Clone(b.info.Deps), &b.info.Main) {
		modules[m.Path] = m
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		parts = append(parts, d.module(modules[path]))
	}
	for _, part := range parts {
		d.relate(b.file.FileSPDXIdentifier, common.TypeRelationshipStaticLink, part)
	}
}

// module adds a module. For a patched one it also adds the module that upstream has published.
func (d *sbom) module(m *debug.Module) common.ElementID {
	for _, p := range d.origin.Modules {
		if p.Path == m.Path {
			return d.patched(p)
		}
	}
	if m.Replace != nil {
		m = m.Replace
	}
	element := d.library(m.Path, m.Version, purl(m.Path, m.Version), noAssertion)
	if p := d.Packages[len(d.Packages)-1]; p.PackageSPDXIdentifier == element {
		p.PackageSourceInfo = "go.sum has " + m.Sum
	}
	return element
}

// patched adds a module that is built with patches.
func (d *sbom) patched(m Module) common.ElementID {
	if len(m.Patches) == 0 {
		return d.library(m.Path, m.Version, purl(m.Path, m.Version), "Apache-2.0")
	}
	_, build, _ := strings.Cut(d.origin.Version, "+")
	version := m.Version + "+" + build
	element := id("Module", m.Path, version)
	if d.known[element] {
		return element
	}
	upstream := d.library(m.Path, m.Version, purl(m.Path, m.Version), "Apache-2.0")
	d.Packages[len(d.Packages)-1].PackageSourceInfo = "go.sum has " + m.Sum
	d.add(&spdx.Package{
		PackageName:           m.Path,
		PackageSPDXIdentifier: element,
		PackageVersion:        version,
		PackageSourceInfo:     fmt.Sprintf("%s with %d patches of hookline: commit %s, on top of %s", m.Version, len(m.Patches), m.tip(), m.Base),
		// A scanner for known vulnerabilities has to look up upstream's version.
		PackageExternalReferences: reference(purl(m.Path, m.Version)),
		PackageLicenseDeclared:    "Apache-2.0",
	})
	d.relate(element, common.TypeRelationshipDescendantOf, upstream)
	return element
}

// library adds a linked package, once.
func (d *sbom) library(name, version, locator, license string) common.ElementID {
	element := id("Module", name, version)
	d.add(&spdx.Package{
		PackageName:               name,
		PackageSPDXIdentifier:     element,
		PackageVersion:            version,
		PackageExternalReferences: reference(locator),
		PackageLicenseDeclared:    license,
	})
	return element
}

func (d *sbom) add(p *spdx.Package) {
	if d.known[p.PackageSPDXIdentifier] {
		return
	}
	d.known[p.PackageSPDXIdentifier] = true
	p.PackageDownloadLocation, p.PackageLicenseConcluded, p.PackageCopyrightText = noAssertion, noAssertion, noAssertion
	p.IsFilesAnalyzedTagPresent = true
	p.PrimaryPackagePurpose = "LIBRARY"
	d.Packages = append(d.Packages, p)
}

func (d *sbom) relate(a common.ElementID, how string, b common.ElementID) {
	d.Relationships = append(d.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(a)), Relationship: how, RefB: common.MakeDocElementID("", string(b)),
	})
}

// defined fails if a relationship names an element that the document does not have, or if two
// elements have one identifier.
func (d *sbom) defined() error {
	elements := map[common.ElementID]int{"DOCUMENT": 1}
	for _, p := range d.Packages {
		elements[p.PackageSPDXIdentifier]++
	}
	for _, f := range d.Files {
		elements[f.FileSPDXIdentifier]++
	}
	for _, r := range d.Relationships {
		for _, of := range []common.ElementID{r.RefA.ElementRefID, r.RefB.ElementRefID} {
			if elements[of] != 1 {
				return fmt.Errorf("%d elements have the identifier %s", elements[of], of)
			}
		}
	}
	return nil
}

var noID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// id makes an SPDX identifier, which has letters, digits, dots and hyphens.
func id(parts ...string) common.ElementID {
	return common.ElementID(noID.ReplaceAllString(strings.Join(parts, "-"), "-"))
}

func reference(locator string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator}}
}

// purl is the package URL of a module.
func purl(path, version string) string {
	namespace, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		namespace, name = path[:i], path[i+1:]
	}
	return golang(namespace, name, version)
}

func golang(namespace, name, version string) string {
	return packageurl.NewPackageURL(packageurl.TypeGolang, namespace, name, version, nil, "").String()
}
