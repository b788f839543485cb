// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sound() Patch {
	return Patch{
		Slug:    "stop",
		Module:  "app",
		Subject: "server,store: stop all of them",
		Body:    "One that fails kept others from stopping.",
		Refs:    []string{"example/app#1"},
		Status:  Upstream,
		Until:   "it is merged",
		Edits:   []Edit{In("a.go", Func("Stop")).Drop()},
	}
}

func seriesOf(patches ...Patch) Series {
	return Series{Modules: []Module{{"lib", "example.org/lib"}, {"app", "example.org/app"}}, Patches: patches}
}

func TestValidate(t *testing.T) {
	byRule := sound()
	byRule.Slug, byRule.Refs, byRule.Rules = "by-rule", nil, []string{"L8"}
	require.NoError(t, seriesOf(sound(), byRule).Validate())
	require.NoError(t, Series{}.Validate())
}

func TestValidateRejects(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Patch)
		want   string
	}{
		"no module":        {func(p *Patch) { p.Module = "" }, `patch 1: module "": not in the series`},
		"no slug":          {func(p *Patch) { p.Slug = "" }, `patch 1: slug "": want lower-case words joined by hyphens`},
		"slug form":        {func(p *Patch) { p.Slug = "App_stop" }, `app/App_stop: slug "App_stop": want lower-case words joined by hyphens`},
		"module":           {func(p *Patch) { p.Module = "other" }, `other/stop: module "other": not in the series`},
		"no area":          {func(p *Patch) { p.Subject = "stop all" }, `app/stop: subject "stop all": want "area: lower-case words" without a final dot`},
		"upper-case":       {func(p *Patch) { p.Subject = "server: Stop all" }, `subject "server: Stop all": want "area: lower-case words"`},
		"final dot":        {func(p *Patch) { p.Subject = "server: stop." }, `subject "server: stop.": want`},
		"lines":            {func(p *Patch) { p.Subject = "server: stop\nall" }, `subject "server: stop\nall": want`},
		"long":             {func(p *Patch) { p.Subject = "server: " + strings.Repeat("x", 65) }, `: 73 bytes, want at most 72`},
		"no body":          {func(p *Patch) { p.Body = " \n" }, `app/stop: body missing: say why before what`},
		"no reason":        {func(p *Patch) { p.Refs = nil }, `app/stop: fixes, refs and rules missing`},
		"empty reason":     {func(p *Patch) { p.Refs = []string{" "} }, `app/stop: fixes, refs and rules missing`},
		"no end":           {func(p *Patch) { p.Until = "" }, `app/stop: until missing: say what makes it unnecessary`},
		"status":           {func(p *Patch) { p.Status = "Maybe" }, `app/stop: status "Maybe": want Upstream, Backport, Hold, Carry or Drop`},
		"hold":             {func(p *Patch) { p.Status = Hold }, `app/stop: status "Hold" with hold "": a patch on hold, and no other, says there what it waits for`},
		"no hold":          {func(p *Patch) { p.Hold = "a KEP" }, `app/stop: status "Upstream" with hold "a KEP"`},
		"need":             {func(p *Patch) { p.Needs = []string{"app/start"} }, `app/stop: needs app/start, which is no patch before it`},
		"no path":          {func(p *Patch) { p.Edits = append(p.Edits, Edit{}) }, `app/stop: edit 2: path "": want a path below the module's root`},
		"path outside":     {func(p *Patch) { p.Edits = []Edit{AddImport("../a.go", "os")} }, `edit 1: path "../a.go"`},
		"bad anchor":       {func(p *Patch) { p.Edits = []Edit{In("a.go", Func("f")).Delete(Expr(""))} }, `app/stop: a.go: func f: anchor "": empty expression`},
		"package outside":  {func(p *Patch) { p.Packages = []Package{{From: "/a", To: "a"}} }, `app/stop: "/a" to "a": want paths below the roots`},
		"package to where": {func(p *Patch) { p.Packages = []Package{{From: "a"}} }, `app/stop: "a" to "": want paths below the roots`},
		"bad exception":    {func(p *Patch) { p.Packages = []Package{{From: "a", To: "a", Except: []string{"["}}} }, `app/stop: file "[" of "a": not a pattern`},
	} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			c.change(&p)
			require.ErrorContains(t, seriesOf(p).Validate(), c.want)
		})
	}
}

func TestValidateSeries(t *testing.T) {
	require.EqualError(t, seriesOf(sound(), sound()).Validate(), "app/stop: given twice")
	ofLib := sound()
	ofLib.Module = "lib"
	require.NoError(t, seriesOf(sound(), ofLib).Validate(), "slugs are unique in a module")
	s := seriesOf()
	s.Modules = append(s.Modules, Module{"app", "example.org/again"}, Module{Name: "no-path"})
	require.EqualError(t, s.Validate(), "module app: given twice\nmodule 4: name or path missing")
}
