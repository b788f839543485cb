// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/monitoring"
)

// Pages says which page holds which table, by path below the root of the
// repository.
type Pages struct {
	Patches  string
	Groups   string // the page with the order of pull requests
	Threads  string // the page of upstream changes that will meet patches
	Ladder   string // the record of the cases that pass after each group; may be empty
	Summary  string // the first page: the cases that pass with the core and with the whole series, figures, versions
	Figures  string // the page with the figures that the first page repeats; may be empty
	Rules    string // the page that states the rules
	Proofs   string // the page with the patches and tests of each rule
	Settings string
	Metrics  string
	Runbook  string   // the page with an entry for each alert; may be empty
	Alerts   string   // the folder of the rules and the dashboard; may be empty
	Changes  string   // the page of differences from the released runtime; may be empty
	Linked   []string // pages whose links are checked, as patterns of filepath.Glob
}

// Repository has the sources of the tables.
type Repository struct {
	Root    string // of this repository
	Series  edit.Series
	Threads []Thread
	Modules []Module
	Sizes   map[string]Size // of groups, by name
	// Defaults returns the default configuration of the product, as TOML. It is called if the
	// patches add a setting.
	Defaults func() ([]byte, error)
}

// Size is how many files a group of patches touches, lines it adds and removes in code
// and in tests, and how many tests it brings or edits.
type Size struct{ Files, Code, TestCode, Tests int }

// Module is an upstream module, and the files that the patches change.
type Module struct {
	Name  string
	Base  fs.FS             // as upstream has it
	Files map[string][]byte // that patches touch, as the last one leaves them; nil is removed
}

// Update renews the tables of all pages.
func Update(r Repository, p Pages) error {
	for _, t := range tables(r, p) {
		page, is, err := t.now(r.Root)
		if err != nil {
			return err
		}
		if is.text == page.table {
			continue
		}
		renewed := page.before + is.text + page.after
		if err := os.WriteFile(filepath.Join(r.Root, t.page), []byte(renewed), 0o644); err != nil {
			return err
		}
	}
	files, err := monitoringFiles(r, p)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(r.Root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for each line of a table that differs from the code, for each text that is
// missing, for each difference that no test tries, for each command of a pull request that runs no test,
// and for each link that leads nowhere. Each error
// names the page, and the place in the code.
func Check(r Repository, p Pages) error {
	var errs []error
	for _, t := range tables(r, p) {
		page, is, err := t.now(r.Root)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, t.drift(page.table, is)...)
		errs = append(errs, is.problems...)
	}
	errs = append(errs, checkDifferences(r, p.Changes)...)
	errs = append(errs, checkRuns(r)...)
	errs = append(errs, checkMonitoring(r, p)...)
	return errors.Join(append(errs, checkLinks(r.Root, p.Linked)...)...)
}

func tables(r Repository, p Pages) []table {
	all := []table{
		{p.Patches, "patches", func() (content, error) { return patchContent(r.Series), nil }},
		{p.Proofs, "proofs", func() (content, error) { return proofContent(r, p) }},
		{p.Settings, "settings", func() (content, error) { return settingContent(r) }},
		{p.Metrics, "metrics", func() (content, error) { return metricContent(r.Modules) }},
	}
	if len(r.Series.Groups) > 0 {
		all = append(all, table{p.Groups, "groups", func() (content, error) { return groupContent(r, p), nil }})
	}
	if _, err := os.Stat(filepath.Join(r.Root, p.Ladder)); p.Ladder != "" && err == nil {
		all = append(all,
			table{p.Groups, "ladder", func() (content, error) { return ladderContent(r, p) }},
			table{p.Summary, "summary", func() (content, error) { return summaryContent(r, p) }})
	}
	if p.Figures != "" {
		all = append(all,
			table{p.Summary, "figures", func() (content, error) { return figureContent(r, p) }},
			table{p.Summary, "versions", func() (content, error) { return versionContent(r) }})
	}
	if p.Runbook != "" {
		all = append(all, table{p.Runbook, "alerts", func() (content, error) { return content{text: monitoring.Runbook(monitoring.Alerts)}, nil }})
	}
	if len(r.Threads) > 0 {
		all = append(all, table{p.Threads, "threads", func() (content, error) { return threadContent(r.Series, r.Threads), nil }})
	}
	return all
}

// now returns the page of a table as it is, and the table as it should be.
func (t table) now(root string) (block, content, error) {
	text, err := os.ReadFile(filepath.Join(root, t.page))
	if err != nil {
		return block{}, content{}, fmt.Errorf("the page of %s: %w", t.name, err)
	}
	page, err := cut(string(text), t.name)
	if err != nil {
		return block{}, content{}, fmt.Errorf("%s: %w", t.page, err)
	}
	is, err := t.make()
	if err != nil {
		return block{}, content{}, fmt.Errorf("%s of %s: %w", t.name, t.page, err)
	}
	return page, is, nil
}
