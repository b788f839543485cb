// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// JSON writes the document.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read reads a document.
func Read(from io.Reader) (*Report, error) {
	var r Report
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("read report: its format is %q, not %s", r.Format, Format)
	}
	return &r, nil
}

// WriteAll writes the report in all its forms into a folder: report.json, junit.xml,
// report.md and report.html. With timelines there are traces.otlp.json and
// traces.chrome.json as well, of all records that the report has, and a picture of each case.
func (r *Report) WriteAll(folder string, timelines bool) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var errs []error
	write := func(name string, form func(io.Writer) error) {
		f, err := os.Create(filepath.Join(folder, name))
		if err == nil {
			err = errors.Join(form(f), f.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", name, err))
		}
	}
	if timelines {
		write("traces.otlp.json", r.OTLP)
		write("traces.chrome.json", r.Chrome)
		for _, c := range r.Cases {
			if c.Run == 1 && len(c.Plugins) > 0 {
				write(c.Name+".svg", c.Timeline().SVG)
			}
		}
		r.Trim()
	}
	write("report.json", r.JSON)
	write("junit.xml", r.JUnit)
	write("report.md", r.Markdown)
	write("report.html", r.HTML)
	return errors.Join(errs...)
}
