// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Paragraph is a paragraph of a Markdown document: the one below a heading that mentions all the
// given names. An item of a list is a paragraph, too, if it has blank lines around it.
type Paragraph struct {
	path, heading string
	mentions      []string
}

// InSection names a paragraph of the document at path.
func InSection(path, heading string, mentions ...string) Paragraph {
	return Paragraph{path, heading, mentions}
}

// Replace replaces the paragraph by text, which may be several.
func (p Paragraph) Replace(text string) Edit {
	return p.edit(func(string) string { return plainText(text) })
}

// After puts text behind the paragraph, as a new paragraph.
func (p Paragraph) After(text string) Edit {
	return p.edit(func(was string) string { return was + "\n" + plainText(text) })
}

// Swap replaces a text that the paragraph has once, such as a value.
func (p Paragraph) Swap(was, becomes string) Edit {
	return p.change(func(text string) (string, error) {
		if n := strings.Count(text, was); n != 1 {
			return "", fmt.Errorf("the paragraph has %q %d times, not once", was, n)
		}
		return strings.Replace(text, was, becomes, 1), nil
	})
}

func (p Paragraph) edit(change func(string) string) Edit {
	return p.change(func(was string) (string, error) { return change(was), nil })
}

func (p Paragraph) change(change func(string) (string, error)) Edit {
	return document(p.path, fmt.Sprintf("section %q", p.heading), func(doc string) (string, error) {
		lo, hi, err := section(doc, p.heading)
		if err != nil {
			return "", err
		}
		parts := strings.SplitAfter(doc[lo:hi], "\n\n")
		found := -1
		for i, part := range parts {
			if !mentionsAll(part, p.mentions) {
				continue
			}
			if found >= 0 {
				return "", fmt.Errorf("more than one paragraph mentions %s", strings.Join(p.mentions, ", "))
			}
			found = i
		}
		if found < 0 {
			return "", fmt.Errorf("no paragraph mentions %s", strings.Join(p.mentions, ", "))
		}
		was := strings.TrimRight(parts[found], "\n") + "\n"
		becomes, err := change(was)
		if err != nil {
			return "", err
		}
		parts[found] = becomes + strings.TrimPrefix(parts[found], was)
		return doc[:lo] + strings.Join(parts, "") + doc[hi:], nil
	})
}

func mentionsAll(text string, names []string) bool {
	for _, name := range names {
		if !strings.Contains(text, name) {
			return false
		}
	}
	return true
}

// section returns where the text below a heading lies, up to the next heading. A line of a
// fenced block is never a heading.
func section(doc, heading string) (lo, hi int, err error) {
	at, fenced := 0, false
	for line := range strings.Lines(doc) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			switch {
			case lo > 0:
				return lo, at, nil
			case strings.TrimSpace(strings.TrimLeft(line, "#")) == heading:
				lo = at + len(line)
			}
		}
		at += len(line)
	}
	if lo == 0 {
		return 0, 0, errors.New("no such heading")
	}
	return lo, at, nil
}

// ProtoComment replaces the comment lines directly above a message of the protobuf file at path,
// or above its field, if field is not empty. Text is comment lines, without indent.
func ProtoComment(path, message, field, text string) Edit {
	name := "message " + message
	if field != "" {
		name += "." + field
	}
	return document(path, name, func(doc string) (string, error) {
		at := regexp.MustCompile(`(?m)^message ` + regexp.QuoteMeta(message) + ` \{`).FindStringIndex(doc)
		if at == nil {
			return "", errors.New("no such message")
		}
		lo := at[0]
		if field != "" {
			end := strings.Index(doc[lo:], "\n}")
			in := regexp.MustCompile(`(?m)^[ \t]+[\w.<>, ]+ ` + regexp.QuoteMeta(field) + ` = \d`).FindStringIndex(doc[lo : lo+max(end, 0)])
			if in == nil {
				return "", errors.New("no such field")
			}
			lo += in[0]
		}
		indent := doc[lo : lo+len(doc[lo:])-len(strings.TrimLeft(doc[lo:], " \t"))]
		top := lo
		for top > 0 {
			above := strings.LastIndexByte(doc[:top-1], '\n') + 1
			if !strings.HasPrefix(strings.TrimSpace(doc[above:top]), "//") {
				break
			}
			top = above
		}
		if top == lo {
			return "", errors.New("has no comment above it")
		}
		lines, err := commentLines(text)
		return doc[:top] + reindent(lines, indent) + doc[lo:], err
	})
}

// ProtoField puts text behind a field of a message of the protobuf file at path. If after is empty, so must
// be the message.
func ProtoField(path, message, after, text string) Edit {
	if after == "" {
		return firstProtoField(path, message, text)
	}
	return document(path, "message "+message+"."+after, func(doc string) (string, error) {
		lo, end, err := protoMessage(doc, message)
		if err != nil {
			return "", err
		}
		in := regexp.MustCompile(`(?m)^([ \t]+)[\w.<>, ]+ ` + regexp.QuoteMeta(after) + ` = \d+.*\n`).FindStringSubmatchIndex(doc[lo:end])
		if in == nil {
			return "", errors.New("no such field")
		}
		indent := doc[lo+in[2] : lo+in[3]]
		return doc[:lo+in[1]] + indent + plainText(text) + doc[lo+in[1]:], nil
	})
}

func firstProtoField(path, message, text string) Edit {
	return document(path, "message "+message, func(doc string) (string, error) {
		at := regexp.MustCompile(`(?m)^message ` + regexp.QuoteMeta(message) + ` *\{\}`).FindStringIndex(doc)
		if at == nil {
			return "", errors.New("no such empty message")
		}
		return doc[:at[0]] + "message " + message + " {\n  " + plainText(text) + "}" + doc[at[1]:], nil
	})
}

// ProtoMessage puts text behind a message of the protobuf file at path.
func ProtoMessage(path, after, text string) Edit {
	return document(path, "message "+after, func(doc string) (string, error) {
		_, end, err := protoMessage(doc, after)
		if err != nil {
			return "", err
		}
		return doc[:end] + "\n" + plainText(text) + doc[end:], nil
	})
}

// protoMessage returns where a message begins, and where the line after its end does.
func protoMessage(doc, name string) (lo, end int, err error) {
	at := regexp.MustCompile(`(?m)^message ` + regexp.QuoteMeta(name) + ` \{`).FindStringIndex(doc)
	if at == nil {
		return 0, 0, errors.New("no such message")
	}
	length := strings.Index(doc[at[0]:], "\n}\n")
	if length < 0 {
		return 0, 0, errors.New("message without an end")
	}
	return at[0], at[0] + length + len("\n}\n"), nil
}

// document makes an edit of a file that is not Go source; name is that of the place, for errors.
func document(path, name string, change func(string) (string, error)) Edit {
	return Edit{path: path, decl: name, mod: func(src []byte) ([]byte, error) {
		text, crs := plain(src)
		out, err := change(string(text))
		if err == nil && len(crs) > 0 {
			out = strings.ReplaceAll(out, "\n", "\r\n")
		}
		return []byte(out), err
	}}
}

// plainText returns text with one newline at its end and none at its start.
func plainText(text string) string {
	return strings.Trim(text, "\n") + "\n"
}
