// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Annotation is a pod's annotation that is read if the kubelet sends no field. It has the same
// content as JSON, with quantities as plain strings. An admission webhook can set it. An unknown
// key is an error, so that typing errors are noticed, and so is a container without a type.
//
//	{"containers": [{
//	  "name": "web",
//	  "type": "CONTAINER",
//	  "kubernetesResources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}},
//	  "CDIDevices": [{"name": "vendor.com/gpu=0"}]
//	}]}
const Annotation = "hookline.dev/pod-resources"

// FromAnnotation reads the annotation's text.
func FromAnnotation(text string) (*PodResourceConfig, error) {
	config, err := fromJSON(text)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	return config, nil
}

func fromJSON(text string) (*PodResourceConfig, error) {
	if len(text) >= MaxAnnotation {
		return nil, tooLarge(len(text), MaxAnnotation)
	}
	config := &PodResourceConfig{}
	if err := protojson.Unmarshal([]byte(text), config); err != nil {
		return nil, errors.New(clip(err.Error())) // it quotes the text
	}
	for _, c := range config.GetContainers() {
		if c.Type == nil { // the default would be an init container
			return nil, fmt.Errorf("container %q has no type", clip(c.GetName()))
		}
	}
	return config, config.validAnnotation()
}

// validAnnotation is validate with the bounds of the annotation.
func (c *PodResourceConfig) validAnnotation() error {
	if n := c.items(); n >= MaxAnnotationItems {
		return tooManyItems(n, MaxAnnotationItems)
	}
	return c.validate()
}

// ToAnnotation makes the annotation's text, the same for the same resources.
func ToAnnotation(config *PodResourceConfig) (string, error) {
	if err := config.validAnnotation(); err != nil {
		return "", fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	text, err := toJSON(config)
	if err == nil && len(text) >= MaxAnnotation {
		err = tooLarge(len(text), MaxAnnotation)
	}
	if err != nil {
		return "", fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	return text, nil
}

// JSON returns the announcement in the readable form of the annotation.
func (a *Announcement) JSON() (string, error) { return toJSON(a.Config()) }

func toJSON(m proto.Message) (string, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return "", err
	}
	var compact bytes.Buffer // protojson varies its spaces
	if err := json.Compact(&compact, text); err != nil {
		return "", err
	}
	return compact.String(), nil
}
