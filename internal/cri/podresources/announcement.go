// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/nri/provisional"
)

// Source is where the resources of a pod came from.
type Source string

const (
	// None is the source of a pod that nothing is told of.
	None Source = ""
	// Field is the request's own.
	Field Source = "field"
	// FromPod is the pod's annotation.
	FromPod Source = "annotation"
)

// Announcement is what was announced of a pod, as a runtime keeps it. It is not
// changed, only replaced. Of a pod of which nothing was announced it is nil.
type Announcement struct {
	config *PodResourceConfig
	source Source
	wire   []byte // what travels, encoded once for all events of the pod
}

// NewAnnouncement returns an error for what nobody could read.
func NewAnnouncement(config *PodResourceConfig, source Source) (*Announcement, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return announce(config, source)
}

// announce is NewAnnouncement of what was validated.
func announce(config *PodResourceConfig, source Source) (*Announcement, error) {
	wire, err := marshal(config)
	if err != nil {
		return nil, err
	}
	return &Announcement{config, source, wire}, nil
}

// Take reads what the containers of a new pod ask for, from the field or else,
// unless text is off, from the annotation. A field that cannot be read is not made
// up for by the annotation: the two may well differ. The source is that of an
// error, too, and nil with None is no announcement.
//
// What is read is taken off the configuration, so that it is there once, see
// [Announcement.Put]. What cannot be read stays, for those who know the field by
// another meaning; unless it has MaxSize, which is for nobody.
func Take(config *runtime.PodSandboxConfig, annotation bool) (*Announcement, Source, error) {
	resources, err := Decode(config)
	if err == nil && resources != nil {
		announced, err := announce(resources, Field)
		provisional.Set(config, FieldOfPod, nil)
		return announced, Field, err
	}
	if err != nil {
		if errors.Is(err, errTooLarge) {
			provisional.Set(config, FieldOfPod, nil)
		}
		return nil, Field, err
	}
	text, ok := config.GetAnnotations()[Annotation]
	if !ok || !annotation {
		return nil, None, nil
	}
	resources, err = FromAnnotation(text)
	if err != nil {
		return nil, FromPod, err
	}
	announced, err := announce(resources, FromPod)
	return announced, FromPod, err
}

// Updated reads what takes the place of an announcement, and nil if the client does
// not say.
func Updated(request *runtime.UpdatePodSandboxResourcesRequest) (*Announcement, error) {
	resources, err := FromPodUpdate(request)
	if resources == nil || err != nil {
		return nil, err
	}
	return announce(resources, Field)
}

// Put returns the configuration with the announcement in its field, wherever that
// came from.
func (a *Announcement) Put(config *runtime.PodSandboxConfig) *runtime.PodSandboxConfig {
	if a == nil {
		return config
	}
	config = proto.CloneOf(config)
	provisional.Set(config, FieldOfPod, a.wire)
	return config
}

// Wire is the announcement as it travels in a field, and nil of nothing.
func (a *Announcement) Wire() []byte {
	if a == nil {
		return nil
	}
	return a.wire
}

// Config is what was announced, not to be changed.
func (a *Announcement) Config() *PodResourceConfig {
	if a == nil {
		return nil
	}
	return a.config
}

// Container returns what was announced of the container of that name.
func (a *Announcement) Container(name string) *ContainerResourceConfig {
	return a.Config().Container(name)
}

// partial tells that it is by who does not know all of a pod, such as a webhook,
// which cannot know paths on the host.
func (a *Announcement) partial() bool { return a.source == FromPod }

// WithContainer returns the announcement in which one container asks for something
// else. Without such a container there is nothing to change.
func (a *Announcement) WithContainer(name string, asked *KubernetesResources) (*Announcement, error) {
	if was := a.Container(name); was == nil || proto.Equal(was.GetKubernetesResources(), asked) {
		return a, nil
	}
	changed := proto.CloneOf(a.config)
	changed.Container(name).KubernetesResources = asked
	return NewAnnouncement(changed, a.source)
}

// Kept is the announcement as a runtime keeps it over a restart.
func (a *Announcement) Kept() *KeptAnnouncement {
	return &KeptAnnouncement{Config: a.config, Source: string(a.source)}
}

// FromKept reads it back.
func FromKept(kept *KeptAnnouncement) (*Announcement, error) {
	a, err := NewAnnouncement(kept.GetConfig(), Source(kept.GetSource()))
	if err != nil {
		return nil, fmt.Errorf("what was kept of the pod's resources: %w", err)
	}
	return a, nil
}
