// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/suites"
)

// pluginModules has a module for each plugin.
const pluginModules = "hack/tools/plugins"

func (a *app) plugins() *cli.Command {
	return &cli.Command{
		Name:      "plugins",
		Usage:     "run NRI plugins of others on stock and on hookline (root)",
		UsageText: "go run ./hack plugins [--run REGEXP] [--write FILE]",
		Description: `Builds the plugins that the modules in hack/tools/plugins pin, unmodified, and takes each
through the same life on a private node of each runtime: it joins, is killed, comes again,
loses the runtime and meets a second instance. It fails if something does not hold on
hookline, and says what holds there alone.

What the tests printed, and the logs of containerd and of the plugins, are in plugins in the
output folder. Run build, build --stock and tools before.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "only plugins whose names match this `REGEXP`"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--run REGEXP] [--write FILE]"),
		Action: a.runPlugins,
	}
}

func (a *app) runPlugins(ctx context.Context, cmd *cli.Command) error {
	out, err := filepath.Abs(filepath.Join(cmd.String("output"), "plugins"))
	if err != nil {
		return err
	}
	tools := filepath.Join(cmd.String("output"), "tools", "bin")
	runtimes := map[string]string{"stock": filepath.Join(built(cmd), "stock", "bin"), "hookline": filepath.Join(built(cmd), "bin")}
	for _, side := range sides {
		if err := (node.Options{Bin: runtimes[side], Tools: tools}).Check(); err != nil {
			return err
		}
	}
	if err := a.buildPlugins(ctx, filepath.Join(out, "bin")); err != nil {
		return err
	}
	t := pluginTests{program: filepath.Join(out, "tests"), folder: filepath.Join(a.root, "integration", "others"), out: out, match: cmd.String("run")}
	end := a.progress.Step("build the tests of plugins")
	_, err = prints(ctx, a.root, "go", "test", "-c", "-trimpath", "-o", t.program, "./integration/others")
	end()
	if err != nil {
		return fmt.Errorf("build the tests of plugins: %w", err)
	}
	results := map[string]suites.Results{}
	for _, side := range sides {
		end := a.progress.Step("plugins on " + side)
		results[side], err = t.run(ctx, side)
		end()
		if err != nil {
			return err
		}
	}
	verdicts := map[string]suites.Results{}
	for _, side := range sides {
		verdicts[side] = verdictsOf(results[side])
	}
	a.tell("", verdicts)
	if file := cmd.String("write"); file != "" {
		if err := writePlugins(file, runtimes, verdicts); err != nil {
			return err
		}
	}
	return errors.Join(worse("plugins", out, verdicts), allPass(results["hookline"]))
}

// allPass fails if a test did not pass, whatever stock made of it.
func allPass(hookline suites.Results) error {
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(hookline)) {
		if hookline[name].State != "passed" {
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("these tests do not pass on hookline:\n%s", strings.Join(failed, "\n"))
}

// pluginTests is the program of the tests.
type pluginTests struct{ program, folder, out, match string }

// run runs the tests on one of the runtimes. Tests that fail are no error.
func (t pluginTests) run(ctx context.Context, side string) (suites.Results, error) {
	folder := filepath.Join(t.out, side)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "output.txt")
	output, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the program has its own
	// The tests wait more than they work.
	cmd := exec.CommandContext(ctx, t.program, "-test.v", "-test.timeout=20m", "-test.parallel=4", "-test.run=^TestPlugins$/"+t.match)
	cmd.Dir = t.folder
	cmd.Env = append(os.Environ(), "RUNTIME="+side, "HOOKLINE_PLUGINS="+filepath.Join(t.out, "bin"), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	ended := cmd.Run() // an error if a test failed, which the output has
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := suites.Printed(file)
	if err != nil {
		return nil, fmt.Errorf("tests of plugins on %s: %w", side, errors.Join(ended, err))
	}
	return results, nil
}

// A pluginBuild makes programs of a module.
type pluginBuild struct {
	what, module string
	args         []string // of go build
}

// pluginBuilds are those of all plugins.
func (a *app) pluginBuilds(to string) ([]pluginBuild, error) {
	builds := []pluginBuild{
		{"NVIDIA's plugin", "nvidia", []string{"-o", to, "."}},
		{"dranet", "dranet", []string{"-o", to, "."}},
		{"nri-plugins", "nri-plugins", []string{"-o", to, "tool"}},
	}
	pins, err := filepath.Glob(filepath.Join(a.root, pluginModules, "stub", "*.mod"))
	if err != nil {
		return nil, err
	}
	for _, pin := range pins {
		version, err := pinned(pin, "github.com/containerd/nri")
		if err != nil {
			return nil, err
		}
		args := []string{"-modfile=" + pin, "-o", to + "stub-" + version, "."}
		if semver.Compare(version, "v0.4.0") < 0 {
			args = append([]string{"-tags=without_contexts"}, args...)
		}
		builds = append(builds, pluginBuild{"NRI's stub " + version, "stub", args})
	}
	return builds, nil
}

// buildPlugins builds all plugins into a folder.
func (a *app) buildPlugins(ctx context.Context, bin string) error {
	if err := errors.Join(os.RemoveAll(bin), os.MkdirAll(bin, 0o755)); err != nil {
		return err
	}
	builds, err := a.pluginBuilds(bin + string(filepath.Separator))
	if err != nil {
		return err
	}
	for _, b := range builds {
		end := a.progress.Step("build " + b.what)
		_, err := prints(ctx, filepath.Join(a.root, pluginModules, b.module), "go", append([]string{"build", "-trimpath"}, b.args...)...)
		end()
		if err != nil {
			return fmt.Errorf("build %s: %w", b.what, err)
		}
	}
	return nil
}

// pinned is the version of a module that a go.mod requires.
func pinned(file, module string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	pins, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, require := range pins.Require {
		if require.Mod.Path == module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", file, module)
}
