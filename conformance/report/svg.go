// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
	"time"
)

//go:embed timeline.svg.tmpl
var svgText string

var svg = template.Must(template.New("timeline.svg").Parse(svgText))

// The measures of the picture, in its own units.
const (
	svgWidth  = 960
	svgLine   = 26
	svgHead   = 50 // the name and the times
	svgLegend = 32
	svgLetter = 6.4 // of the names, at their size, on average
	svgRight  = 24
	svgApart  = 4 // bars that begin nearer to each other look like one
)

type picture struct {
	Name          string
	Width, Height int
	Lines         []pictureLine
	Ticks         []pictureTick
	Top, Bottom   int // of the lines of the times
	Legend        []pictureLegend
}

type pictureLine struct {
	Name string
	Y    int
	Bars []pictureBar
}

type pictureBar struct {
	X, W         float64
	Y            int
	Class, Title string
	Text, On     string  // its name, and the class of that
	At           float64 // where the name begins
}

type pictureTick struct {
	X    float64
	Text string
}

type pictureLegend struct {
	X           float64
	Y           int
	Class, Text string
}

// legend has the colours, and what they stand for.
var legend = []struct{ class, text string }{
	{"call", "CRI request"},
	{"work", "plugin handles the event"},
	{"hangs", "not answered in time"},
	{"fails", "error"},
}

// SVG draws the timeline. Work of plugins stands out from waits.
func (t Timeline) SVG(w io.Writer) error {
	bottom := svgHead + svgLine*len(t.Tracks)
	p := picture{Name: t.Name, Width: svgWidth, Height: bottom + svgLegend, Top: svgHead - 10, Bottom: bottom + 4}
	names, left := t.names(), 150.0
	for _, name := range names {
		left = min(max(left, width(name)+20), svgWidth/3)
	}
	span := t.End.Sub(t.Start)
	if span <= 0 {
		span = time.Millisecond
	}
	x := func(at time.Time) float64 {
		return left + float64(at.Sub(t.Start))/float64(span)*(svgWidth-left-svgRight)
	}
	for i := range 5 {
		d := span * time.Duration(i) / 4
		p.Ticks = append(p.Ticks, pictureTick{x(t.Start.Add(d)), rounded(d)})
	}
	for i, track := range t.Tracks {
		line := pictureLine{Name: names[i], Y: svgHead + svgLine*i}
		for _, s := range track.Spans {
			line.Bars = append(line.Bars, s.bar(x, line.Y))
		}
		line.name(track.Spans)
		p.Lines = append(p.Lines, line)
	}
	at := left
	for _, l := range legend {
		p.Legend = append(p.Legend, pictureLegend{at, bottom + 12, l.class, l.text})
		at += width(l.text) + 44
	}
	return svg.Execute(w, p)
}

// randomEnd is what a run adds to the names of plugins, so that no two runs share one.
var randomEnd = regexp.MustCompile(`-[0-9a-f]{8}( #[0-9]+)?$`)

// names returns those of the tracks, without the random ends if they stay distinct.
func (t Timeline) names() []string {
	var whole, short []string
	distinct, plugins := map[string]bool{}, 0
	for _, track := range t.Tracks {
		name := randomEnd.ReplaceAllString(track.Name, "$1")
		whole, short = append(whole, track.Name), append(short, name)
		if name != track.Name {
			distinct[name] = true
			plugins++
		}
	}
	if len(distinct) < plugins {
		return whole
	}
	return short
}

func (s Span) bar(x func(time.Time) float64, y int) pictureBar {
	b := pictureBar{X: x(s.Start), W: max(x(s.End)-x(s.Start), 2), Y: y + 4, Class: "call"}
	switch {
	case s.Hangs:
		b.Class = "hangs"
	case s.Error != "":
		b.Class = "fails"
	case s.Plugin:
		b.Class = "work"
	}
	b.Title = fmt.Sprintf("%s %s, %s", s.Name, s.Of, rounded(s.End.Sub(s.Start)))
	if s.Hangs {
		b.Title += ", not answered in time"
	}
	if s.Error != "" {
		b.Title += ": " + short(s.Error)
	}
	return b
}

// name writes the names of the spans into their bars, or behind those that are too short, up to
// the next bar. Bars that look like one are named together. A bar without room for a name has
// its title only.
func (l *pictureLine) name(spans []Span) {
	var together []string
	for i := range l.Bars {
		b := &l.Bars[i]
		if need := width(spans[i].Name) + 8; need < b.W {
			b.Text, b.At, b.On = spans[i].Name, b.X+4, "on "+b.Class+"-on"
			together = nil
			continue
		}
		together = append(together, spans[i].Name)
		next := float64(svgWidth)
		if i+1 < len(l.Bars) {
			next = l.Bars[i+1].X
		}
		if next-b.X < svgApart {
			continue
		}
		if text := strings.Join(together, ", "); b.X+b.W+width(text)+8 < next {
			b.Text, b.At, b.On = text, b.X+b.W+4, "label"
		}
		together = nil
	}
}

// width is about that of a text in the picture.
func width(text string) float64 { return float64(len(text)) * svgLetter }

func rounded(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// Picture is the timeline as a part of an HTML page.
func (t Timeline) Picture() (template.HTML, error) {
	var b strings.Builder
	if err := t.SVG(&b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil // from html/template
}
