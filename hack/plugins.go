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

	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/testkit/node"
)

// pluginModules has a module for each plugin.
const pluginModules = "hack/tools/plugins"

func (a *app) plugins() *cli.Command {
	return &cli.Command{
		Name:      "plugins",
		Usage:     "run NRI plugins of other projects on stock and on hookline (root)",
		UsageText: "go run ./hack plugins [--quick] [--run REGEXP] [--write FILE]",
		Description: `Builds the plugins that the modules in hack/tools/plugins pin, unmodified, and takes
each through the same life on a private node of each runtime: it connects, is killed,
reconnects, loses the runtime and meets a second instance. It fails if a check does not
pass on hookline, and lists the checks that pass only there. The source of NRI's sample
plugins is a source package of Debian, from the mirror that apt uses; without such a
mirror they are left out.

The output of the tests, and the logs of containerd and of the plugins, are in plugins
in the output folder. Run build, build --stock and tools before.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "run only plugins that build in moments, and from modules"},
			&cli.StringFlag{Name: "run", Usage: "run only plugins whose names match this `REGEXP`"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--quick] [--run REGEXP] [--write FILE]"),
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
	match := cmd.String("run")
	if cmd.Bool("quick") {
		match = pluginsQuick
	}
	without, err := a.buildPlugins(ctx, out, cmd.Bool("quick"))
	if err != nil {
		return err
	}
	for _, l := range without {
		fmt.Fprintf(a.stdout, "left out: %s: %s\n", l.plugins, l.why)
	}
	t := pluginTests{program: filepath.Join(out, "tests"), folder: filepath.Join(a.root, "integration", "others"), out: out, match: match}
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
		if err := writePlugins(file, runtimes, verdicts, without); err != nil {
			return err
		}
	}
	return errors.Join(worse("plugins", out, verdicts), allPass(results["hookline"]))
}

// allPass fails if a test did not pass, whatever its result on stock.
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
	// The tests mostly wait.
	cmd := exec.CommandContext(ctx, t.program, "-test.v", "-test.timeout=20m", "-test.parallel=4", "-test.run=^TestPlugins$/"+t.match)
	cmd.Dir = t.folder
	cmd.Env = append(os.Environ(), "RUNTIME="+side, "HOOKLINE_PLUGINS="+filepath.Join(t.out, "bin"), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	ended := cmd.Run() // an error if a test failed, which the output shows
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
	what, folder string
	args         []string // of go build
}

// pluginsQuick matches the names of the plugins of quickBuilds.
const pluginsQuick = "(NVIDIA|stub)"

// quickBuilds returns the builds of modules that take only moments.
func (a *app) quickBuilds(to string) []pluginBuild {
	modules := filepath.Join(a.root, pluginModules)
	return []pluginBuild{
		{"NVIDIA's plugin", filepath.Join(modules, "nvidia"), []string{"-o", to, "."}},
		{"a plugin over an old stub", filepath.Join(modules, "stub"), []string{"-o", to, "."}},
	}
}

// pluginBuilds returns the builds of the other plugins that are modules.
func (a *app) pluginBuilds(to string) []pluginBuild {
	modules := filepath.Join(a.root, pluginModules)
	return []pluginBuild{
		{"dranet", filepath.Join(modules, "dranet"), []string{"-o", to, "."}},
		{"nri-plugins", filepath.Join(modules, "nri-plugins"), []string{"-o", to, "tool"}},
	}
}

// buildPlugins builds the plugins into a folder of out, and returns those that it leaves out.
func (a *app) buildPlugins(ctx context.Context, out string, quick bool) (without []leftOut, err error) {
	bin := filepath.Join(out, "bin")
	if err := errors.Join(os.RemoveAll(bin), os.MkdirAll(bin, 0o755)); err != nil {
		return nil, err
	}
	to := bin + string(filepath.Separator)
	builds := a.quickBuilds(to)
	if !quick {
		var samples []pluginBuild
		if samples, without, err = a.samplesOrWhy(ctx, filepath.Join(out, "source"), to); err != nil {
			return nil, err
		}
		builds = slices.Concat(builds, a.pluginBuilds(to), samples)
	}
	for _, b := range builds {
		end := a.progress.Step("build " + b.what)
		_, err := prints(ctx, b.folder, "go", append([]string{"build", "-trimpath"}, b.args...)...)
		end()
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", b.what, err)
		}
	}
	return without, nil
}
