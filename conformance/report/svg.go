// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed timeline.svg.tmpl
var svgText string

var svg = template.Must(template.New("timeline.svg").Parse(svgText))

// The measures of the picture, in its own units.
const (
	svgWidth  = 960
	svgLabels = 150
	svgLine   = 26
	svgHead   = 30
)

type picture struct {
	Name          string
	Width, Height int
	Labels        int
	Lines         []pictureLine
	Ticks         []pictureTick
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
	Text         string
}

type pictureTick struct {
	X    float64
	Text string
}

// SVG draws the timeline. What a plugin worked at stands out from what was only waited for.
func (t Timeline) SVG(w io.Writer) error {
	p := picture{Name: t.Name, Width: svgWidth, Labels: svgLabels, Height: svgHead + svgLine*len(t.Tracks) + 8}
	span := t.End.Sub(t.Start)
	if span <= 0 {
		span = time.Millisecond
	}
	x := func(at time.Time) float64 {
		return svgLabels + float64(at.Sub(t.Start))/float64(span)*(svgWidth-svgLabels-24)
	}
	for i := range 5 {
		d := span * time.Duration(i) / 4
		p.Ticks = append(p.Ticks, pictureTick{x(t.Start.Add(d)), rounded(d)})
	}
	for i, track := range t.Tracks {
		line := pictureLine{Name: track.Name, Y: svgHead + svgLine*i}
		for _, s := range track.Spans {
			line.Bars = append(line.Bars, s.bar(x, line.Y))
		}
		p.Lines = append(p.Lines, line)
	}
	return svg.Execute(w, p)
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
	if float64(len(s.Name))*6.4+8 < b.W {
		b.Text = s.Name
	}
	return b
}

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
	return template.HTML(b.String()), nil // made by html/template, just now
}
