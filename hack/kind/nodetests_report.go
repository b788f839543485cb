// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Spec is a test of ginkgo, and its result: passed, failed, or another one of ginkgo's.
type Spec struct {
	Name   string `xml:"name,attr"`
	Status string `xml:"status,attr"`
}

// readSpecs reads the tests of a JUnit report, without its other entries.
func readSpecs(file string) ([]Spec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report struct {
		Cases []Spec `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return slices.DeleteFunc(report.Cases, func(s Spec) bool { return !strings.HasPrefix(s.Name, "[It] ") }), nil
}

// WriteNodeTests writes one table with the results of the tests on the built containerd and on stock:
// how many passed, and each test that failed on at least one of them.
func WriteNodeTests(w io.Writer, built, stock []Spec) error {
	word := map[string]string{}
	for _, s := range stock {
		word[s.Name] = s.Status
	}
	var rows []string
	for _, s := range built {
		if s.Status == "failed" || word[s.Name] == "failed" {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", strings.TrimPrefix(s.Name, "[It] "), s.Status, word[s.Name]))
		}
	}
	slices.Sort(rows)
	_, err := fmt.Fprintf(w, "| test | hookline | stock |\n|---|---|---|\n| passed | %d | %d |\n| failed | %d | %d |\n| cut by the limit | %d | %d |\n%s",
		count(built, "passed"), count(stock, "passed"), count(built, "failed"), count(stock, "failed"),
		count(built, "timedout"), count(stock, "timedout"), strings.Join(rows, ""))
	return err
}

func count(specs []Spec, status string) (n int) {
	for _, s := range specs {
		if s.Status == status {
			n++
		}
	}
	return n
}
