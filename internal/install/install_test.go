// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fake is a node whose programs print the answers of a test. The tests with pods use real
// ones.
type fake struct {
	Node
	answers map[string]string // by program and last argument
	log     map[string]string // by program
}

const (
	unitFile = "/lib/systemd/system/containerd.service"
	stock    = "/usr/bin/containerd"
	program  = staged + "/containerd"
)

func newFake(t *testing.T) *fake {
	f := &fake{answers: map[string]string{
		stock + " --version":                   "containerd github.com/containerd/containerd/v2 v2.4.1 abc\n",
		stock + " default":                     "root = '/var/lib/containerd'\n[cri]\nimage = 'pause:1'\n",
		stock + " dump":                        "root = '/data'\n[cri]\nimage = 'pause:1'\n",
		staged + "/hookline-install --version": "hookline-install version devel",
		program + " --version":                 "containerd github.com/containerd/containerd/v2 v2.4.2+hookline.1 def\n",
		program + " dump":                      "root = '/data'\n[cri]\nimage = 'pause:2'\n[nri]\nnew = true\n",
	}}
	f.Root = t.TempDir()
	f.run = func(_ context.Context, _ Node, program string, args ...string) (string, string, error) {
		answer, ok := f.answers[program+" "+args[len(args)-1]]
		if !ok {
			return "", "", errors.New("exec format error")
		}
		return answer, f.log[program], nil
	}
	f.write(t, unitFile, "[Service]\nExecStartPre=-/sbin/modprobe overlay\nExecStart=/usr/bin/containerd --log-level debug\nRestart=always\n")
	f.write(t, stock, "the distribution's")
	return f
}

func (f *fake) write(t *testing.T, name, content string) {
	path := filepath.Join(f.Root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// built is a folder of binaries to install.
func built(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("new "+name), 0o755))
	}
	return dir
}

// files lists all files of the node and their content.
func (f *fake) files(t *testing.T) map[string]string {
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(f.Root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, f.Root)] = string(content)
		return err
	}))
	return found
}

func TestInstallAndUndo(t *testing.T) {
	f := newFake(t)
	before := f.files(t)
	done, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	assert.Equal(t, Installed{
		Distribution: "/usr/bin/containerd v2.4.1", Version: "v2.4.2+hookline.1",
		Notes: []string{"default of cri . image: pause:2, was pause:1"},
	}, done)
	after := f.files(t)
	assert.Equal(t, "new containerd", after["/opt/hookline/bin/containerd"])
	assert.Contains(t, after["/etc/systemd/system/containerd.service.d/hookline.conf"],
		"\nExecStart=\nExecStart=/opt/hookline/bin/containerd --log-level debug\nEnvironment=PATH=/opt/hookline/bin:/usr/local/sbin:")
	assert.Len(t, after, len(before)+4, "three programs and a drop-in")
	for name, content := range before {
		assert.Equal(t, content, after[name])
	}

	// The same again: it reads the distribution's unit, not its own drop-in.
	again, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	assert.Equal(t, done, again)
	assert.Equal(t, after, f.files(t))

	kept, err := f.Undo(t.Context())
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Equal(t, before, f.files(t))
	assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
	assert.NoDirExists(t, filepath.Join(f.Root, "etc/systemd/system/containerd.service.d"))
}

// The program that installs is put beside the others, and systemd runs it before containerd.
func TestInstalledProgramLooksForANewerContainerd(t *testing.T) {
	f := newFake(t)
	before := f.files(t)
	self := filepath.Join(t.TempDir(), "downloaded")
	require.NoError(t, os.WriteFile(self, []byte("itself"), 0o755))
	_, err := f.Install(t.Context(), built(t), self)
	require.NoError(t, err)
	after := f.files(t)
	assert.Equal(t, "itself", after["/opt/hookline/bin/hookline-install"])
	assert.Contains(t, after["/etc/systemd/system/containerd.service.d/hookline.conf"], "\nExecStartPre=-/opt/hookline/bin/hookline-install check --newer\n")

	f.answers[Bin+"/containerd --version"] = f.answers[program+" --version"]
	require.NoError(t, f.Newer(t.Context()))
	f.answers[stock+" --version"] = "containerd github.com/containerd/containerd/v2 v2.4.10 abc\n"
	require.ErrorContains(t, f.Newer(t.Context()), "the node has containerd v2.4.10, which is newer than this build of v2.4.2")

	_, err = f.Undo(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, f.files(t))
}

// The distribution may get a newer containerd after the build was installed.
func TestCheckOfAnInstalledBuild(t *testing.T) {
	f := newFake(t)
	_, err := f.Check(t.Context())
	require.ErrorContains(t, err, "has no /opt/hookline/bin: nothing is installed")
	done, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	for _, last := range []string{" --version", " dump"} {
		f.answers[Bin+"/containerd"+last] = f.answers[program+last]
	}
	before := f.files(t)
	checked, err := f.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, done, checked)
	f.answers[stock+" --version"] = "containerd github.com/containerd/containerd/v2 v2.4.10 abc\n"
	_, err = f.Check(t.Context())
	require.ErrorContains(t, err, "the node has containerd v2.4.10, which is newer than this build of v2.4.2")
	assert.Equal(t, before, f.files(t), "a check changes nothing")
}

func TestUndoKeepsProgramsOfShims(t *testing.T) {
	f := newFake(t)
	_, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	bundle := "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/shim-binary-path"
	f.write(t, fmt.Sprintf(bundle, "of-hookline"), Bin+"/containerd-shim-runc-v2")
	f.write(t, fmt.Sprintf(bundle, "of-stock"), "/usr/bin/containerd-shim-runc-v2")

	kept, err := f.Undo(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"of-hookline"}, kept)
	assert.FileExists(t, filepath.Join(f.Root, Bin, "containerd-shim-runc-v2"))
	assert.NoFileExists(t, filepath.Join(f.Root, "etc/systemd/system/containerd.service.d/hookline.conf"))

	require.NoError(t, os.Remove(filepath.Join(f.Root, fmt.Sprintf(bundle, "of-hookline"))))
	kept, err = f.Undo(t.Context())
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
}

// A build may have the shim of pods without a pause container. It stays when a build without it is
// installed, until nothing is.
func TestOptionalProgram(t *testing.T) {
	f, name := newFake(t), "containerd-shim-sandboxed-runc-v2"
	placed := filepath.Join(f.Root, Bin, name)
	_, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	assert.NoFileExists(t, placed)

	with := built(t)
	require.NoError(t, os.WriteFile(filepath.Join(with, name), nil, 0o755))
	for _, build := range []string{with, built(t)} {
		_, err = f.Install(t.Context(), build, "")
		require.NoError(t, err)
		assert.FileExists(t, placed)
	}
	users, err := f.Undo(t.Context())
	require.NoError(t, err)
	assert.Empty(t, users)
	assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
}

func TestStateElsewhere(t *testing.T) {
	f := newFake(t)
	f.write(t, unitFile, "[Service]\nExecStart=/usr/bin/containerd -c /etc/c.toml\n")
	f.write(t, "/etc/c.toml", "version = 3\nstate = '/srv/state'\n")
	_, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	f.write(t, "/srv/state/io.containerd.runtime.v2.task/k8s.io/pod/shim-binary-path", Bin+"/containerd-shim-runc-v2")
	kept, err := f.Undo(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"pod"}, kept)
}

func TestRejected(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, f *fake)
		want   string
	}{
		"no containerd": {func(t *testing.T, f *fake) {
			require.NoError(t, os.Remove(filepath.Join(f.Root, unitFile)))
		}, "has no containerd.service of systemd"},
		"another minor release": {func(_ *testing.T, f *fake) {
			f.answers[stock+" --version"] = "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3\n"
		}, "the node has containerd v1.6.20, and this is a build of v2.4.2: they must be of the same minor release"},
		"newer": {func(_ *testing.T, f *fake) {
			f.answers[stock+" --version"] = "containerd github.com/containerd/containerd/v2 v2.4.10 abc\n"
		}, "the node has containerd v2.4.10, which is newer than this build of v2.4.2"},
		"not released": {func(_ *testing.T, f *fake) {
			f.answers[stock+" --version"] = "containerd github.com/containerd/containerd/v2 main abc\n"
		}, "which is no released version"},
		"a setting is lost": {func(_ *testing.T, f *fake) {
			f.answers[program+" dump"] = "root = '/var/lib/containerd'\n[cri]\nimage = 'pause:2'\n"
		}, "the configuration of the node does not fit: root is /data, would be /var/lib/containerd"},
		"a key does not exist": {func(_ *testing.T, f *fake) {
			f.log = map[string]string{program: `time="2026-11-27T00:00:00Z" level=warning msg="Ignoring unknown key in TOML for plugin" key=a plugin=io.containerd.other` + "\n" +
				`time="2026-11-27T00:00:00Z" level=error msg="unknown key in TOML for plugin, which has no effect" key=plugins.must.requird_for plugin=io.containerd.nri.v1.nri` + "\n"}
		}, "settings that do not exist, and that would have no effect: plugins.must.requird_for of io.containerd.nri.v1.nri"},
		"the build does not start": {func(_ *testing.T, f *fake) {
			delete(f.answers, program+" --version")
		}, "exec format error"},
		"a drop-in comes after": {func(t *testing.T, f *fake) {
			f.write(t, "/etc/systemd/system/containerd.service.d/zz-site.conf", "[Service]\nExecStart=\nExecStart=/srv/containerd\n")
		}, "containerd.service.d/zz-site.conf changes what systemd starts"},
		"a later drop-in that says the same": {func(t *testing.T, f *fake) {
			f.write(t, "/etc/systemd/system/containerd.service.d/zz-site.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/containerd --log-level debug\n")
		}, "containerd.service.d/zz-site.conf changes what systemd starts"},
		"a later drop-in with another PATH": {func(t *testing.T, f *fake) {
			f.write(t, "/etc/systemd/system/containerd.service.d/zz-site.conf", "[Service]\nEnvironment=\n")
		}, "containerd.service.d/zz-site.conf changes what systemd starts"},
		"variables": {func(t *testing.T, f *fake) {
			f.write(t, unitFile, "[Service]\nExecStart=/usr/bin/containerd $ARGS\n")
		}, "starts containerd with variables or quotes"},
		"a drop-in of the operator": {func(t *testing.T, f *fake) {
			f.write(t, "/etc/systemd/system/containerd.service.d/hookline.conf", "[Service]\nLimitNOFILE=1\n")
		}, "hookline.conf of "},
		"a candidate of the release": {func(_ *testing.T, f *fake) {
			f.answers[stock+" --version"] = "containerd github.com/containerd/containerd/v2 v2.4.2 abc\n"
			f.answers[program+" --version"] = "containerd github.com/containerd/containerd/v2 v2.4.2-rc.0+hookline.1 def\n"
		}, "the node has containerd v2.4.2, which is newer than this build of v2.4.2-rc.0"},
		"two programs": {func(t *testing.T, f *fake) {
			f.write(t, unitFile, "[Service]\nExecStart=/usr/bin/containerd\nExecStart=/bin/true\n")
		}, "it starts more than one program"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			c.change(t, f)
			before := f.files(t)
			_, err := f.Install(t.Context(), built(t), "")
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, before, f.files(t), "nothing is installed")
			assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
		})
	}
}

// A program that is missing leaves nothing of the others.
func TestFailedInstallLeavesNothing(t *testing.T) {
	f := newFake(t)
	before := f.files(t)
	from := built(t)
	require.NoError(t, os.Remove(filepath.Join(from, "ctr")))
	_, err := f.Install(t.Context(), from, "")
	require.ErrorContains(t, err, "program to install")
	assert.Equal(t, before, f.files(t))
	assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
}

// A drop-in that an operator has masked is not replaced, and its target stays.
func TestMaskedDropInStays(t *testing.T) {
	f := newFake(t)
	f.write(t, "/dev/null", "")
	f.write(t, "/etc/systemd/system/containerd.service.d/10-other.conf", "[Service]\n")
	link := filepath.Join(f.Root, "etc/systemd/system/containerd.service.d/hookline.conf")
	require.NoError(t, os.Symlink("/dev/null", link))
	_, err := f.Install(t.Context(), built(t), "")
	require.ErrorContains(t, err, "was not written by hookline-install: remove it first")
	_, err = f.Undo(t.Context())
	require.NoError(t, err)
	to, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, "/dev/null", to)
	assert.FileExists(t, filepath.Join(f.Root, "dev/null"))
}

// The state folder is that of the command line, or of the configuration with what it imports.
func TestUndoFindsTheStateFolder(t *testing.T) {
	bundle := "/io.containerd.sandbox.controller.v1.shim/k8s.io/pod/shim-binary-path"
	for name, set := range map[string]func(*testing.T, *fake){
		"on the command line": func(t *testing.T, f *fake) {
			f.write(t, unitFile, "[Service]\nExecStart=/usr/bin/containerd --state /srv/state\n")
		},
		"imported": func(_ *testing.T, f *fake) {
			f.answers[Bin+"/containerd dump"] = "state = '/srv/state'\n"
		},
		"in the file": func(t *testing.T, f *fake) {
			f.write(t, "/etc/containerd/config.toml", "state = '/srv/state'\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			set(t, f)
			_, err := f.Install(t.Context(), built(t), "")
			require.NoError(t, err)
			f.write(t, "/srv/state"+bundle, Bin+"/containerd-shim-runc-v2")
			users, err := f.Undo(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"pod"}, users)
		})
	}
}

// A package of the distribution that is removed does not keep its build from being removed.
func TestUndoWithoutUnit(t *testing.T) {
	f := newFake(t)
	_, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(f.Root, unitFile)))
	users, err := f.Undo(t.Context())
	require.NoError(t, err)
	assert.Empty(t, users)
	assert.NoDirExists(t, filepath.Join(f.Root, "opt/hookline"))
}

// A wrapper whose child keeps its output does not keep containerd from starting.
func TestRunOfAProgramIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, _, err := chroot(ctx, Node{Root: "/"}, "/bin/sh", "-c", "sleep 30 & sleep 30")
	require.Error(t, err)
	require.Less(t, time.Since(start), 15*time.Second)
}

func TestDropInsOfTheNode(t *testing.T) {
	f := newFake(t)
	f.write(t, "/usr/lib/systemd/system/containerd.service.d/10-site.conf", "[Service]\nExecStart=\nExecStart=/hidden\n")
	f.write(t, "/etc/systemd/system/containerd.service.d/10-site.conf",
		"[Service]\nExecStart=\nExecStart=-/usr/bin/containerd --config=/etc/site.toml\nEnvironment=\"PATH=/site/bin:/bin\" A=b\n")
	f.write(t, "/etc/systemd/system/containerd.service.d/zz-limits.conf", "[Service]\nLimitNOFILE=infinity\n")
	c, after, err := f.distribution()
	require.NoError(t, err)
	assert.Empty(t, after, "limits do not change what systemd starts")
	assert.Equal(t, command{program: stock, args: "--config=/etc/site.toml", path: "/site/bin:/bin"}, c)
	assert.Equal(t, "/etc/site.toml", c.config())
	assert.Contains(t, string(c.override(Bin, false)), "\nExecStart=/opt/hookline/bin/containerd --config=/etc/site.toml\nEnvironment=PATH=/opt/hookline/bin:/site/bin:/bin\n")
}

// The target of an absolute link on the node is a path below the node's root.
func TestLinksStayInTheRoot(t *testing.T) {
	f := newFake(t)
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(f.Root, "opt")))
	_, err := f.Install(t.Context(), built(t), "")
	require.NoError(t, err)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.FileExists(t, filepath.Join(f.Root, outside, "hookline/bin/containerd"))
}
