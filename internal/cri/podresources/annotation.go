// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Annotation is of a pod, and read where the kubelet sends no field: JSON of the
// same content, quantities being plain strings, which an admission webhook can
// set. A key that is not known is an error, so that no typing error goes unseen.
//
//	{"containers": [{
//	  "name": "web",
//	  "type": "CONTAINER",
//	  "kubernetesResources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}},
//	  "CDIDevices": [{"name": "vendor.com/gpu=0"}]
//	}]}
const Annotation = "hookline.dev/pod-resources"

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

// Announced reads what the containers of a new pod ask for, from the field or
// else from the annotation. A field that cannot be read is not made up for by the
// annotation: the two may well differ. The source is that of an error, too.
func Announced(config *runtime.PodSandboxConfig) (*PodResourceConfig, Source, error) {
	if announced, err := Decode(config); announced != nil || err != nil {
		return announced, Field, err
	}
	text, ok := config.GetAnnotations()[Annotation]
	if !ok {
		return nil, None, nil
	}
	announced, err := FromAnnotation(text)
	return announced, FromPod, err
}

// FromAnnotation reads the annotation's text.
func FromAnnotation(text string) (*PodResourceConfig, error) {
	config, err := fromJSON(text)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	return config, nil
}

func fromJSON(text string) (*PodResourceConfig, error) {
	if len(text) >= MaxSize {
		return nil, tooLarge(len(text))
	}
	config := &PodResourceConfig{}
	if err := protojson.Unmarshal([]byte(text), config); err != nil {
		return nil, errors.New(clip(err.Error())) // it quotes what is in the text
	}
	return config, config.validate()
}

// ToAnnotation makes the annotation's text, the same for the same resources.
func ToAnnotation(config *PodResourceConfig) (string, error) {
	if err := config.validate(); err != nil {
		return "", fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	text, err := protojson.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	var compact bytes.Buffer // protojson varies its spaces
	if err := json.Compact(&compact, text); err != nil {
		return "", fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	if compact.Len() >= MaxSize {
		return "", fmt.Errorf("annotation %s: %w", Annotation, tooLarge(compact.Len()))
	}
	return compact.String(), nil
}
