// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// Source is the source of the resources of a pod.
type Source string

const (
	// None is the source of a pod without an announcement.
	None Source = ""
	// Field is a field of the request.
	Field Source = "field"
	// FromPod is the pod's annotation.
	FromPod Source = "annotation"
)

// Announcement has the announced resources of a pod, as a runtime keeps them. It is replaced,
// never changed. It is nil if nothing was announced.
type Announcement struct {
	config *PodResourceConfig
	source Source
	wire   []byte // encoded once for all events of the pod
}

// NewAnnouncement returns an error for invalid resources.
func NewAnnouncement(config *PodResourceConfig, source Source) (*Announcement, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return announce(config, source)
}

// announce is NewAnnouncement for resources that were validated.
func announce(config *PodResourceConfig, source Source) (*Announcement, error) {
	wire, err := marshal(config)
	if err != nil {
		return nil, err
	}
	return &Announcement{config, source, wire}, nil
}

// Take reads the resources of a new pod's containers from the field. If there is no field and
// annotation is set, it reads the annotation. The annotation is not used if the field cannot be
// read: the two may differ. With an error, the source says where it came from. Without an
// announcement, Take returns nil and None.
//
// A field that was read is removed from the configuration, so that it exists only once, see
// [Announcement.Put]. A field that cannot be read stays, since it may have a meaning for others,
// unless it reaches MaxSize.
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

// Updated reads the resources that replace an announcement, nil if the client sends none.
func Updated(request *runtime.UpdatePodSandboxResourcesRequest) (*Announcement, error) {
	resources, err := FromPodUpdate(request)
	if resources == nil || err != nil {
		return nil, err
	}
	return announce(resources, Field)
}

// Put returns the configuration with the announcement in its field, whatever its
// source.
func (a *Announcement) Put(config *runtime.PodSandboxConfig) *runtime.PodSandboxConfig {
	if a == nil {
		return config
	}
	config = proto.CloneOf(config)
	provisional.Set(config, FieldOfPod, a.wire)
	return config
}

// Wire returns the encoded announcement for a field, nil if there is none.
func (a *Announcement) Wire() []byte {
	if a == nil {
		return nil
	}
	return a.wire
}

// Config returns the announced resources. They must not be changed.
func (a *Announcement) Config() *PodResourceConfig {
	if a == nil {
		return nil
	}
	return a.config
}

// Container returns the announced resources of the container of that name.
func (a *Announcement) Container(name string) *ContainerResourceConfig {
	return a.Config().Container(name)
}

// partial reports whether the announcement comes from a client that does not know all of a pod,
// such as a webhook, which cannot know paths on the host.
func (a *Announcement) partial() bool { return a.source == FromPod }

// WithContainer returns the announcement with new resources of one container. It returns the same
// announcement if there is no such container.
func (a *Announcement) WithContainer(name string, asked *KubernetesResources) (*Announcement, error) {
	if was := a.Container(name); was == nil || proto.Equal(was.GetKubernetesResources(), asked) {
		return a, nil
	}
	changed := proto.CloneOf(a.config)
	changed.Container(name).KubernetesResources = asked
	return NewAnnouncement(changed, a.source)
}

// Kept returns the announcement in the form that a runtime stores.
func (a *Announcement) Kept() *KeptAnnouncement {
	return &KeptAnnouncement{Config: a.config, Source: string(a.source)}
}

// FromKept reads that form.
func FromKept(kept *KeptAnnouncement) (*Announcement, error) {
	a, err := NewAnnouncement(kept.GetConfig(), Source(kept.GetSource()))
	if err != nil {
		return nil, fmt.Errorf("read the stored resources of the pod: %w", err)
	}
	return a, nil
}

// Container returns the container of that name, and nil if there is none.
func (c *PodResourceConfig) Container(name string) *ContainerResourceConfig {
	for _, container := range c.GetContainers() {
		if container.GetName() == name {
			return container
		}
	}
	return nil
}
