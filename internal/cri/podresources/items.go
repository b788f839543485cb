// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// item is a mount or a device: what it is known by, and what is compared of it.
type item struct {
	key    string
	fields [3]property
}

type property struct{ name, value string }

func (i item) String() string {
	var parts []string
	for _, f := range i.fields {
		if f.name != "" {
			parts = append(parts, f.name+" "+f.value)
		}
	}
	if len(parts) == 0 {
		return strconv.Quote(i.key)
	}
	return strings.Join(parts, ", ")
}

func mountsOf(container string, mounts []*runtime.Mount) []item {
	var items []item
	for _, m := range mounts {
		if !isTerminationLog(container, m) {
			items = append(items, item{m.GetContainerPath(), [3]property{
				{"host_path", strconv.Quote(m.GetHostPath())},
				{"readonly", strconv.FormatBool(m.GetReadonly())},
				{"propagation", m.GetPropagation().String()},
			}})
		}
	}
	return items
}

func devicesOf(devices []*runtime.Device) []item {
	var items []item
	for _, d := range devices {
		items = append(items, item{d.GetContainerPath(), [3]property{
			{"host_path", strconv.Quote(d.GetHostPath())},
			{"permissions", strconv.Quote(d.GetPermissions())},
		}})
	}
	return items
}

func cdiOf(devices []*runtime.CDIDevice) []item {
	var items []item
	for _, d := range devices {
		items = append(items, item{key: d.GetName()})
	}
	return items
}

// allowed is true of the mounts that the kubelet adds to a container by itself:
// those of the service account and of the hosts file, announced or not. If they
// are announced, they are compared.
func allowed(mount item) bool {
	return mount.key == "/var/run/secrets/kubernetes.io/serviceaccount" || mount.key == "/etc/hosts"
}

var terminationLog = regexp.MustCompile(`/pods/[^/]+/containers/([^/]+)/[0-9a-f]+$`)

// isTerminationLog is true of the mount of a termination log, the kubelet's third.
// Where it is in a container is the user's choice. On the host it is a file in the
// kubelet's directory of the container, with a name that is new at each start, and
// so it is never compared.
func isTerminationLog(container string, m *runtime.Mount) bool {
	match := terminationLog.FindStringSubmatch(m.GetHostPath())
	return match != nil && match[1] == container
}

// compare leaves out what is equal on both sides, and pairs the rest by key.
func compare(field string, announced, got []item, allowed func(item) bool) []Difference {
	var differences []Difference
	announced, got = without(announced, got), without(got, announced)
	byKey := map[string][]item{}
	for _, g := range got {
		byKey[g.key] = append(byKey[g.key], g)
	}
	for _, a := range announced {
		at := fmt.Sprintf("%s[%s]", field, a.key)
		if len(byKey[a.key]) == 0 {
			differences = append(differences, Difference{at, a.String(), none})
			continue
		}
		g := byKey[a.key][0]
		byKey[a.key] = byKey[a.key][1:]
		for n, f := range a.fields {
			if other := g.fields[n]; f != other {
				differences = append(differences, Difference{at + "." + f.name, f.value, other.value})
			}
		}
	}
	for _, g := range got {
		unpaired := byKey[g.key]
		if len(unpaired) == 0 || unpaired[0] != g {
			continue
		}
		byKey[g.key] = unpaired[1:]
		if allowed == nil || !allowed(g) {
			differences = append(differences, Difference{fmt.Sprintf("%s[%s]", field, g.key), none, g.String()})
		}
	}
	return differences
}

// without returns the items that have no equal among the others, each of which
// is the equal of one.
func without(items, others []item) []item {
	count := map[item]int{}
	for _, other := range others {
		count[other]++
	}
	var rest []item
	for _, i := range items {
		if count[i] > 0 {
			count[i]--
			continue
		}
		rest = append(rest, i)
	}
	return rest
}
