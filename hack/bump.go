// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) bump() *cli.Command {
	return &cli.Command{
		Name:      "bump",
		Usage:     "try the series on another version of a module",
		UsageText: "go run ./hack bump [--place] MODULE@VERSION|MODULE=CLONE",
		Description: `Prints for each patch of the module whether it fits that version:
  fits     the patch applies
  misfit   the patch does not apply, for the reason given
  follows  the patch needs others that do not apply
  meets    an upstream change touches the same code as the patch above;
           docs/upstreaming.md says what happens to the patch then

It then compiles and vets the patches before the first one that does not fit, and
runs upstream's tests on them. CLONE is the folder of a clone of upstream's
repository, whose checked-out commit is tried, such as upstream's main, or HEAD of a
bare clone. It fails if a patch does not fit, or if the patches that fit do not
compile or fail a test. It changes nothing in this repository.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "place", Usage: "do not compile or test the patches that fit"}},
		Before: takes(1, "[--place] MODULE@VERSION|MODULE=CLONE"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			module, version, clone, err := a.bumped(cmd.Args().First())
			if err != nil {
				return err
			}
			source, err := w.Other(ctx, module, version, clone)
			if err != nil {
				return err
			}
			fits, err := w.Try(ctx, source)
			if err != nil {
				return err
			}
			first, err := a.report(source, fits)
			if cmd.Bool("place") {
				return err
			}
			return errors.Join(err, a.prove(ctx, w.With(source, first)))
		}),
	}
}

// bumped reads the argument: a module with a version, or with a clone.
func (a *app) bumped(arg string) (module, version, clone string, err error) {
	if module, version, ok := strings.Cut(arg, "@"); ok && module != "" && version != "" {
		return module, version, "", nil
	}
	module, clone, ok := strings.Cut(arg, "=")
	if !ok || module == "" || clone == "" {
		return "", "", "", fmt.Errorf("usage: bump MODULE@VERSION, as in bump %[1]s@v1.2.3, or MODULE=CLONE, as in bump %[1]s=../%[1]s", a.product.Module)
	}
	if info, err := os.Stat(clone); err != nil || !info.IsDir() {
		return "", "", "", fmt.Errorf("%s: no such folder", clone)
	}
	return module, "", clone, nil
}

// report prints which patches fit. first is the first patch that does not.
func (a *app) report(source tree.Source, fits []tree.Fit) (first string, err error) {
	misfits, follow := 0, 0
	for _, f := range fits {
		if f.Err != nil && first == "" {
			first = f.Patch.Name()
		}
		switch {
		case f.Err == nil:
			fmt.Fprintf(a.stdout, "fits    %s\n", f.Patch.Name())
		case len(f.Follows) > 0:
			follow++
			fmt.Fprintf(a.stdout, "follows %s: it needs %s\n", f.Patch.Name(), strings.Join(f.Follows, ", "))
		default:
			misfits++
			fmt.Fprintf(a.stdout, "misfit  %v\n", f.Err)
		}
		for _, t := range a.threads {
			if slices.Contains(t.Patches, f.Patch.Name()) {
				fmt.Fprintf(a.stdout, "meets   %s: %s: %s\n", f.Patch.Name(), t.Name, t.Title)
			}
		}
	}
	if first != "" {
		return first, fmt.Errorf("%d of %d patches do not fit %s %s, %d more need them", misfits, len(fits), source.Name, source.Version, follow)
	}
	_, err = fmt.Fprintf(a.stdout, "all %d patches fit %s %s\n", len(fits), source.Name, source.Version)
	return "", err
}

// prove compiles the patches that fit, and runs upstream's tests on them. It compiles the last
// commit first: if that compiles, so do most before it. If not, it compiles each, to name the
// patch.
func (a *app) prove(ctx context.Context, w *tree.Workspace) error {
	trees, err := w.Apply(ctx)
	if err != nil {
		return err
	}
	if _, err := w.CheckLast(ctx, trees, a.product); err != nil {
		if _, each := w.Check(ctx, trees, a.product); each != nil {
			return each
		}
		return err
	}
	fmt.Fprintln(a.stdout, "the patches that fit compile")
	return a.tested(w.Test(ctx, trees, a.product.Tags, a.tests))
}
