// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/hookline-nri/hookline/testkit/host"
)

// NRI's sample plugins are modules without a release, so they cannot be required as modules. Debian
// has their source, unchanged from NRI's release.
const (
	samplesPackage = "golang-github-containerd-nri"
	samplesVersion = "0.8.0-1"
	samplesSuite   = "testing"
	samplesArchive = "golang-github-containerd-nri_0.8.0.orig.tar.gz"
	samplesSum     = "a833f78b1fe9c5b97a3908d1179bb330e77831c62a0dc8b907ece52475f6c886"
	samplesNRI     = "v0.8.0" // the version of the source
)

// samples are the plugins that are built from it, each with the first NRI that it is built over. If
// every is set, it is also built over all later ones.
var samples = []struct {
	name, first string
	every       bool
}{
	{"logger", "v0.6.1", true},
	{"device-injector", "v0.8.0", true}, // adds CDI devices, which v0.6.1 does not have
	{"hook-injector", samplesNRI, false},
	{"network-device-injector", samplesNRI, false},
	{"ulimit-adjuster", samplesNRI, false},
}

// samplesNames returns their names in a report.
func samplesNames() string {
	var names []string
	for _, s := range samples {
		names = append(names, s.name)
	}
	return "NRI's own " + strings.Join(names, ", ")
}

// samplesOrWhy returns the builds of NRI's sample plugins. If their source cannot be fetched they are
// left out, but in CI that is an error.
func (a *app) samplesOrWhy(ctx context.Context, folder, to string) ([]pluginBuild, []leftOut, error) {
	source, err := a.samplesSource(ctx, folder)
	if errors.Is(err, host.ErrPrerequisite) && os.Getenv("CI") == "" {
		return nil, []leftOut{{samplesNames(), err.Error()}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	builds, err := a.sampleBuilds(source, to)
	return builds, nil, err
}

// sampleBuilds returns the builds of NRI's sample plugins in an unpacked source: each over the NRI of
// the source, and some over others.
func (a *app) sampleBuilds(source, to string) ([]pluginBuild, error) {
	pins, err := filepath.Glob(filepath.Join(a.root, pluginModules, "nri", "*.mod"))
	if err != nil {
		return nil, err
	}
	var builds []pluginBuild
	for _, pin := range pins {
		version := strings.TrimSuffix(filepath.Base(pin), ".mod")
		for _, s := range samples {
			if version != samplesNRI && !s.every || semver.Compare(version, s.first) < 0 {
				continue
			}
			builds = append(builds, pluginBuild{
				what: "NRI's " + s.name + " over " + version, folder: filepath.Join(source, "plugins", s.name),
				args: []string{"-modfile=" + pin, "-o", to + s.name + "-" + version, "."},
			})
		}
	}
	return builds, nil
}

// samplesSource unpacks the source of NRI's sample plugins below a folder, which keeps the archive.
func (a *app) samplesSource(ctx context.Context, folder string) (source string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	archive := filepath.Join(folder, samplesArchive)
	if !hasSum(archive, samplesSum) {
		end := a.progress.Step("fetch the source of NRI's sample plugins")
		err := fetchSamples(ctx, folder)
		end()
		if err != nil {
			return "", err
		}
	}
	source = filepath.Join(folder, "nri")
	if err := errors.Join(os.RemoveAll(source), os.Mkdir(source, 0o755)); err != nil {
		return "", err
	}
	if _, err := prints(ctx, folder, "tar", "-xzf", archive, "-C", source, "--strip-components=1"); err != nil {
		return "", fmt.Errorf("unpack %s: %w", short(archive), err)
	}
	return source, nil
}

// fetchSamples has apt fetch the archive into a folder. Its errors do not name the mirror.
func fetchSamples(ctx context.Context, folder string) (err error) {
	sources, err := debianSources(ctx)
	if err != nil {
		return err
	}
	private, err := os.MkdirTemp(folder, "apt")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	list, lists, log := filepath.Join(private, "sources.list"), filepath.Join(private, "lists"), filepath.Join(folder, "apt.log")
	if err := errors.Join(os.WriteFile(list, []byte(sources), 0o644), os.MkdirAll(filepath.Join(lists, "partial"), 0o755)); err != nil {
		return err
	}
	// The host's apt state is neither used nor changed.
	options := []string{
		"-o", "Dir::Etc::SourceList=" + list, "-o", "Dir::Etc::SourceParts=/dev/null",
		"-o", "Dir::State::Lists=" + lists, "-o", "Dir::Cache=" + private, "-o", "APT::Sandbox::User=root",
	}
	var said string
	for _, command := range [][]string{{"update"}, {"source", "--download-only", samplesPackage + "=" + samplesVersion}} {
		// A mirror that lacks some of the package's files may have this one: its sum is checked.
		out, err := prints(ctx, folder, "apt-get", append(options, command...)...)
		if err != nil {
			out += err.Error() + "\n"
		}
		said += out
	}
	if err := errors.Join(ctx.Err(), os.WriteFile(log, []byte(said), 0o644)); err != nil {
		return err
	}
	if !hasSum(filepath.Join(folder, samplesArchive), samplesSum) {
		return fmt.Errorf("%w: Debian's mirror does not give %s of the source package %s %s, see %s",
			host.ErrPrerequisite, samplesArchive, samplesPackage, samplesVersion, short(log))
	}
	return nil
}

// mirror finds the Debian mirror in the address of an index. Mirrors of its security updates and of
// other distributions have other names.
var mirror = regexp.MustCompile(`(?m)^'(\S+/debian/?)/dists/`)

// debianSources returns the lines of a sources.list for the Debian mirrors that the host's apt uses.
func debianSources(ctx context.Context) (lines string, err error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", fmt.Errorf("%w: no apt-get in PATH to fetch the source package %s from Debian", host.ErrPrerequisite, samplesPackage)
	}
	// Not apt's lists: on a new host they are empty.
	out, err := prints(ctx, "/", "apt-get", "update", "--print-uris")
	if err != nil {
		return "", fmt.Errorf("list apt's mirrors: %w", err)
	}
	var mirrors []string
	for _, found := range mirror.FindAllStringSubmatch(out, -1) {
		mirrors = append(mirrors, found[1])
	}
	slices.Sort(mirrors)
	for _, m := range slices.Compact(mirrors) {
		// Trusted, since the archive's sum is checked.
		lines += fmt.Sprintf("deb-src [trusted=yes] %s %s main\n", m, samplesSuite)
	}
	if lines == "" {
		return "", fmt.Errorf("%w: apt has no mirror of Debian for the source package %s", host.ErrPrerequisite, samplesPackage)
	}
	return lines, nil
}

// hasSum reports whether a file exists and has a SHA-256 sum.
func hasSum(file, sum string) bool {
	content, err := os.ReadFile(file)
	return err == nil && fmt.Sprintf("%x", sha256.Sum256(content)) == sum
}
