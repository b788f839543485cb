// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/crossvet"
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/internal/release"
	"github.com/hookline-nri/hookline/internal/tree"
)

// invented is the series of the scripts, over the two modules in testdata/mod.
// A script sets SERIES for a variant, such as the series of another day.
func invented(variant string) edit.Series {
	variant, grouped := strings.CutPrefix(variant, "grouped")
	variant = strings.TrimSpace(variant)
	loudly, twice := inventedGreetings(variant)
	patched, hall := inventedHall(variant)
	s := edit.Assemble(
		[]edit.Module{{Name: "greet", Path: "example.com/greet"}, {Name: "hall", Path: "example.com/hall"}},
		edit.Group{Folder: "patches/build", Patches: []edit.Patch{patched}},
		edit.Group{Folder: "patches/small/loud", Core: true, Patches: []edit.Patch{loudly}},
		edit.Group{Folder: "patches/small/two", Patches: []edit.Patch{twice}},
		edit.Group{Folder: "patches/large/hall", Patches: []edit.Patch{hall}},
	)
	if !grouped {
		s.Groups = nil
	}
	switch variant {
	case "shorter":
		s.Patches = s.Patches[:3]
	case "needy": // has a patch that changes code of another patch
		louder := s.Patches[2]
		louder.Slug, louder.Edits = "louder", []edit.Edit{edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"HELLO "`), `"HELLO, HELLO "`)}
		s.Patches = slices.Insert(s.Patches, 2, louder)
	case "quiet": // drops a whole file
		s.Patches = append(s.Patches, inventedQuiet("quietly-now", "no test greets", "loud/loud.go"))
	case "untested": // drops the tests
		s.Patches = append(s.Patches, inventedQuiet("untested", "", "greet_test.go"))
	}
	return s
}

// inventedGreetings are the patches of greet.
func inventedGreetings(variant string) (loudly, twice edit.Patch) {
	loudly = edit.Patch{
		Slug:     "loudly",
		Module:   "greet",
		Subject:  "greet: say hello so that it is heard",
		Body:     "Guests at the back hear nothing. A louder greeting reaches them, e.g.\nthose behind the pillar.\n\nÉmile reported it.",
		Refs:     []string{"example/greet#7"},
		Rules:    []string{"L8", "L9"},
		Status:   edit.Upstream,
		Untested: "no test greets",
		Until:    "greet shouts by itself",
		Edits: []edit.Edit{
			edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"hello "`), `"HELLO "`),
		},
	}
	twice = edit.Patch{
		Slug:    "twice",
		Module:  "greet",
		Subject: "greet: greet twice",
		Body:    "One greeting is easily missed.",
		Refs:    []string{"example/greet#8"},
		Status:  edit.Carry,
		Until:   "guests listen",
	}
	shout := edit.In("loud/loud.go", edit.Func("Shout"))
	switch variant {
	case "silent": // upstream's test fails
		loudly.Edits = []edit.Edit{edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"hello " + name`), `""`)}
	case "differs": // between versions of greet
		loudly.Edits = append(loudly.Edits, edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"HELLO "`), `"HELLO, sir "`).Since("v1.1"))
	case "api-added":
		twice.Edits = []edit.Edit{shout.InsertBefore("// Whisper is a greeting from nearby.\nfunc Whisper() string { return \"psst\" }\n")}
	case "api-changed":
		twice.Edits = []edit.Edit{shout.Signature("func Shout(name string) string")}
	case "api-removed":
		twice.Edits = []edit.Edit{shout.Drop()}
	}
	return loudly, twice
}

// inventedHall are the patches of hall.
func inventedHall(variant string) (patched, hall edit.Patch) {
	patched = edit.Patch{
		Slug:    "patched-greet",
		Module:  "hall",
		Subject: "go.mod: build with the patched greet",
		Body:    "The hall is built with the patched greetings.",
		Refs:    []string{"example/greet#7"},
		Status:  edit.Drop,
		Until:   "greet has a release",
		Edits:   []edit.Edit{edit.GoMod("go.mod", edit.Substitute("example.com/greet", "../greet", ""))},
	}
	greets := "fmt.Println(greet.Twice(guest()))\n"
	hall = edit.Patch{
		Slug:     "twice",
		Module:   "hall",
		Subject:  "cmd/hall: greet twice",
		Body:     "Guests who sleep through the first greeting miss the show.",
		Refs:     []string{"example/hall#1"},
		Rules:    []string{"L8"},
		Status:   edit.Upstream,
		Untested: "no test greets",
		Until:    "the hall greets twice",
	}
	place := edit.In("cmd/hall/main.go", edit.Func("main"))
	var more []edit.Edit
	switch variant {
	case "changed": // the last patch differs
		greets += "fmt.Println(\"welcome\")\n"
	case "gone": // upstream no longer has the function
		place = edit.In("cmd/hall/main.go", edit.Func("Main"))
	case "broken": // does not compile
		greets += "fmt.Println(greet.Thrice(guest()))\n"
	case "unvetted":
		greets += "fmt.Printf(\"%d\\n\", guest())\n"
	case "unportable": // does not compile for plan9
		more = []edit.Edit{edit.AddImport("cmd/hall/main.go", "syscall"),
			edit.In("cmd/hall/main.go", edit.Func("main")).Before(edit.Top(), "_ = syscall.Flock")}
	case "unvetted-elsewhere":
		more = []edit.Edit{edit.In("cmd/hall/door_plan9.go", edit.Func("door")).Before(edit.Top(), `fmt.Printf("%d doors\n", "two")`)}
	case "setting":
		bell := edit.In("cmd/bell/main.go", edit.Func("main"))
		more = []edit.Edit{
			bell.InsertBefore("// A Config is how the bell rings.\ntype Config struct {\n\t// Loudness is how loud it rings. More than Most is no louder.\n\tLoudness int `toml:\"loudness\"`\n\tMost     int `toml:\"most\"`\n}\n"),
			bell.Replace(edit.Stmt(edit.Call("fmt.Println")), "fmt.Println(\"[hall.'big bell']\")\nfmt.Println(\"loudness = 11\")\nfmt.Println(\"most = 12\")\n"),
		}
	}
	if variant != "needless" { // names the patch that it is built on
		hall.Needs = []string{"greet/twice", "hall/patched-greet"}
	}
	hall.Edits = append([]edit.Edit{place.Replace(edit.Stmt(edit.Call("greet.Hello")), greets)}, more...)
	return patched, hall
}

// inventedQuiet drops a file of greet.
func inventedQuiet(slug, untested, file string) edit.Patch {
	return edit.Patch{
		In:       "patches/small/two",
		Slug:     slug,
		Module:   "greet",
		Subject:  "greet: drop the shouting",
		Body:     "Shouting is out of use.",
		Refs:     []string{"example/greet#9"},
		Status:   edit.Upstream,
		Untested: untested,
		Until:    "greet is quiet",
		Edits:    []edit.Edit{edit.DropFile(file)},
	}
}

// inventedThreads returns upstream's threads that meet the series.
func inventedThreads(variant string) []docs.Thread {
	capitals := docs.Thread{Name: "example/greet#10", Title: "Greetings are in capitals.", Seen: "its head", Patches: []string{"greet/loudly"}, Then: "`greet/loudly` drops out."}
	switch variant {
	case "met":
	case "met by mistake": // names a patch that was dropped
		capitals.Patches = append(capitals.Patches, "greet/loudest")
	default:
		return nil
	}
	return []docs.Thread{capitals}
}

// hackMain is the CLI over the invented series, for the repository in the
// working directory.
func hackMain() {
	root, err := os.Getwd()
	if err == nil {
		err = runToEnd(config{
			root:    root,
			series:  invented(os.Getenv("SERIES")),
			threads: inventedThreads(os.Getenv("SERIES")),
			product: tree.Product{
				Module:   "hall",
				Commands: []tree.Command{{Package: "cmd/hall", Cgo: true}, {Package: "cmd/bell", Tags: []string{"deep"}}},
				Tags:     []string{"festive"},
				Vars:     "version",
				Link:     "-s -w",
			},
			releaser: releaser{
				cross:  map[string]string{"s390x": "no-such-gcc"},
				starts: []release.Start{{Args: []string{"hall"}, Says: []string{"{version} {revision}"}}},
			},
			build:     "invented.1",
			coreBuild: "invented-core.1",
			tests:     map[string][]string{"hall": {"./internal/..."}},
			platforms: []crossvet.Platform{{OS: "plan9", Arch: "amd64"}},
			pages: docs.Pages{
				Patches:  "docs/patches.md",
				Threads:  "docs/upstreaming.md",
				Rules:    "docs/contract.md",
				Settings: "docs/operating.md",
				Metrics:  "docs/operating.md",
				Proofs:   "docs/proofs.md",
				Linked:   []string{"README.md", "docs/*.md"},
			},
			defaults: []string{"bell"},
			stdout:   os.Stdout,
			stderr:   os.Stderr,
		}, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
