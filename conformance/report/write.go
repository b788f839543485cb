// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
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

// Prepare makes the folder for a report. It fails before the long run if the folder cannot be
// written to.
func Prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := unix.Access(folder, unix.W_OK); err != nil {
		return fmt.Errorf("write reports to %s: %w", folder, err)
	}
	return nil
}

// WriteAll writes the report in all its forms into a folder: report.json, junit.xml, report.md and
// report.html; and its timelines, if timelines is set.
func (r *Report) WriteAll(folder string, timelines bool) error {
	if timelines {
		if err := r.WriteTimelines(folder); err != nil {
			return err
		}
		r.Trim()
	}
	return writeAll(folder, []form{{"report.json", r.JSON}, {"junit.xml", r.JUnit}, {"report.md", r.Markdown}, {"report.html", r.HTML}})
}

// WriteTimelines writes traces.otlp.json and traces.chrome.json, of all records in the report, and
// a picture of each case into a folder.
func (r *Report) WriteTimelines(folder string) error {
	forms := []form{{"traces.otlp.json", r.OTLP}, {"traces.chrome.json", r.Chrome}}
	for _, c := range r.Cases {
		if c.Run == 1 && len(c.Plugins) > 0 {
			forms = append(forms, form{c.Name + ".svg", c.Timeline().SVG})
		}
	}
	return writeAll(folder, forms)
}

// form is a file of the report.
type form struct {
	name  string
	write func(io.Writer) error
}

func writeAll(folder string, forms []form) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, of := range forms {
		f, err := os.Create(filepath.Join(folder, of.name))
		if err == nil {
			err = errors.Join(of.write(f), f.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", of.name, err))
		}
	}
	return errors.Join(errs...)
}
