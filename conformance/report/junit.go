// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"io"
	"strings"
	"time"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Seconds float64       `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit's XML, one suite for each profile. JUnit has no unsupported
// cases: they are skipped there, with their reason.
func (r *Report) JUnit(w io.Writer) error {
	all := junitSuites{Name: r.Tool.Name}
	for _, p := range r.Profiles {
		s := junitSuite{
			Name: p.Name, Timestamp: r.Started.UTC().Format(time.RFC3339),
			Failures: p.Count[Failed], Errors: p.Count[Error], Skipped: p.Count[Skipped] + p.Count[Unsupported],
		}
		for _, c := range r.Of(p.Name) {
			s.Tests++
			s.Cases = append(s.Cases, c.junit())
		}
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	return e.Close()
}

func (c Case) junit() junitCase {
	j := junitCase{Class: "nri-conformance." + c.Profile, Name: c.Name, Seconds: c.Seconds}
	message := &junitMessage{Message: c.Reason, Text: strings.Join(c.Broken(), "\n")}
	switch c.Verdict {
	case Failed:
		message.Message = "the runtime breaks " + c.Rule
		j.Failure = message
	case Error:
		j.Error = message
	case Skipped, Unsupported:
		message.Message = string(c.Verdict) + ": " + c.Reason
		j.Skipped = message
	}
	return j
}

// Broken returns a text for each broken promise and each other failure.
func (c Case) Broken() (all []string) {
	for _, p := range c.Promises {
		if p.Verdict == Failed {
			all = append(all, p.Rule+" "+p.Holds+": "+p.Seen)
		}
	}
	if c.Verdict == Failed || c.Verdict == Error {
		all = append(all, c.Evidence...)
	}
	return all
}
