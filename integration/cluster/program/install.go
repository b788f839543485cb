// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookline-nri/hookline/internal/install"
)

// runInstall does on the node what "hookline-install install" does.
func runInstall(args []string) error {
	if len(args) != 1 {
		return errors.New("want the folder of the binaries")
	}
	if err := goToNode(); err != nil {
		return err
	}
	done, err := install.Node{Root: "/"}.Install(context.Background(), args[0], "")
	if err != nil {
		return err
	}
	fmt.Printf("%s beside %s\n%s", done.Version, done.Distribution, strings.Join(done.Notes, "\n"))
	return nil
}

// runUninstall does on the node what "hookline-install undo" does.
func runUninstall([]string) error {
	if err := goToNode(); err != nil {
		return err
	}
	kept, err := install.Node{Root: "/"}.Undo(context.Background())
	if err == nil && len(kept) > 0 {
		fmt.Printf("kept for %s", strings.Join(kept, " "))
	}
	return err
}
