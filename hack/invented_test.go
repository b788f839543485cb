// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/internal/tree"
)

// invented is the series of the scripts, over the two modules in testdata/mod.
// A script sets SERIES to have it otherwise, as it may be on another day.
func invented(variant string) edit.Series {
	loudly := edit.Patch{
		Slug:    "greet-loudly",
		Module:  "greet",
		Subject: "greet: say hello so that it is heard",
		Body:    "Guests at the back hear nothing. A louder greeting reaches them, e.g.\nthose behind the pillar.\n\nÉmile reported it.",
		Refs:    []string{"example/greet#7"},
		Rules:   []string{"L8", "L9"},
		Status:  edit.Upstream,
		Until:   "greet shouts by itself",
		Edits: []edit.Edit{
			edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"hello "`), `"HELLO "`),
		},
	}
	twice := edit.Patch{
		Slug:    "greet-twice",
		Module:  "greet",
		Subject: "greet: greet twice",
		Body:    "One greeting is easily missed.",
		Refs:    []string{"example/greet#8"},
		Status:  edit.Carry,
		Until:   "guests listen",
		Files:   []edit.File{{From: "patches/greet/files/twice.go", To: "twice.go"}},
	}
	patched := edit.Patch{
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
	hall := edit.Patch{
		Slug:    "hall-greets-twice",
		Module:  "hall",
		Subject: "cmd/hall: greet twice",
		Body:    "Guests who sleep through the first greeting miss the show.",
		Refs:    []string{"example/hall#1"},
		Rules:   []string{"L8"},
		Status:  edit.Upstream,
		Until:   "the hall greets twice",
	}
	place := edit.In("cmd/hall/main.go", edit.Func("main"))
	switch variant {
	case "":
	case "changed": // the last patch says something else
		greets += "fmt.Println(\"welcome\")\n"
	case "gone": // upstream no longer has the function
		place = edit.In("cmd/hall/main.go", edit.Func("Main"))
	case "broken": // does not compile
		greets += "fmt.Println(greet.Thrice(guest()))\n"
	case "unvetted":
		greets += "fmt.Printf(\"%d\\n\", guest())\n"
	case "silent": // upstream's test fails
		loudly.Edits = []edit.Edit{edit.In("greet.go", edit.Func("Hello")).Replace(edit.Expr(`"hello " + name`), `""`)}
	}
	shout := edit.In("loud/loud.go", edit.Func("Shout"))
	switch variant {
	case "api-added":
		twice.Edits = []edit.Edit{shout.InsertBefore("// Whisper is a greeting from nearby.\nfunc Whisper() string { return \"psst\" }\n")}
	case "api-changed":
		twice.Edits = []edit.Edit{shout.Signature("func Shout(name string) string")}
	case "api-removed":
		twice.Edits = []edit.Edit{shout.Drop()}
	}
	hall.Edits = []edit.Edit{place.Replace(edit.Stmt(edit.Call("greet.Hello")), greets)}
	quiet := edit.Patch{
		Slug:    "greet-quietly-now",
		Module:  "greet",
		Subject: "greet: drop the shouting",
		Body:    "Nobody shouts any more.",
		Refs:    []string{"example/greet#9"},
		Status:  edit.Upstream,
		Until:   "greet is quiet",
		Edits:   []edit.Edit{edit.DropFile("loud/loud.go")},
	}
	s := edit.Series{
		Modules: []edit.Module{{Name: "greet", Path: "example.com/greet"}, {Name: "hall", Path: "example.com/hall"}},
		Patches: []edit.Patch{loudly, twice, patched, hall},
	}
	switch variant {
	case "shorter":
		s.Patches = s.Patches[:3]
	case "untested", "quiet": // drop whole files
		if variant == "untested" {
			quiet.Slug, quiet.Edits = "greet-untested", []edit.Edit{edit.DropFile("greet_test.go")}
		}
		s.Patches = append(s.Patches, quiet)
	}
	return s
}

// hackMain is the CLI over the invented series, for the repository in the
// working directory.
func hackMain() {
	root, err := os.Getwd()
	if err == nil {
		err = runToEnd(config{
			root:    root,
			series:  invented(os.Getenv("SERIES")),
			product: tree.Product{Module: "hall", Commands: []string{"cmd/hall", "cmd/bell"}, Tags: []string{"festive"}, Vars: "version"},
			build:   "invented.1",
			tests:   map[string][]string{"hall": {"./internal/..."}},
			stdout:  os.Stdout,
			stderr:  os.Stderr,
		}, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
