// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/nri/pkg/api"
)

// Set has the rights of a plugin. An empty set does not limit the plugin.
type Set []string

// None allows nothing, alone in a set.
const None = "none"

// Check returns an error for a right that does not exist, and for rights without an event: in NRI a
// plugin that names no event subscribes to all.
func (s Set) Check() error {
	known := Paths()
	for _, right := range s {
		if right == None && len(s) == 1 {
			continue
		}
		if !slices.ContainsFunc(known, func(path string) bool { return covers(right, path) }) {
			return fmt.Errorf("%q is no right: a right is %q alone, one of %s, or the beginning of some, such as %q",
				right, None, strings.Join(known, ", "), "adjust.linux")
		}
	}
	if len(s) > 0 && s[0] != None && !slices.ContainsFunc(s, func(right string) bool { return covers("events", right) }) {
		return errors.New("they have no event: a plugin has to subscribe to at least one")
	}
	return nil
}

// Allows reports whether the set allows what a path names.
func (s Set) Allows(path string) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(right string) bool { return covers(right, path) })
}

func covers(right, path string) bool {
	return right == path || strings.HasPrefix(path, right+".")
}

// lacks returns the paths that the set does not allow.
func (s Set) lacks(paths []string) []string {
	return slices.DeleteFunc(paths, s.Allows)
}

// LacksEvents returns the events of a subscription that the set does not allow.
func (s Set) LacksEvents(events api.EventMask) []string {
	var paths []string
	for e := api.Event_UNKNOWN + 1; e < api.Event_LAST; e++ {
		if events.IsSet(e) {
			paths = append(paths, eventPath(e))
		}
	}
	return s.lacks(paths)
}

func eventPath(e api.Event) string { return "events." + e.PrettyName() }
