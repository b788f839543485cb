// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// podResourcesKey is the key of the extension in a sandbox's record that keeps the
// resources of its containers over a restart.
const podResourcesKey = "podresources"

// takeAnnouncement reads the resources of the containers of a new sandbox. Unreadable
// resources are logged and ignored (R4).
func (c *criService) takeAnnouncement(ctx context.Context, sb *sandboxstore.Sandbox) {
	announced, source, err := podresources.Take(sb.Config, c.config.PodResourcesAnnotation)
	if err == nil {
		err = announced.Fits(thisMachine())
	}
	if err != nil {
		ignoreResources(ctx, sb, string(source), err)
		return
	}
	setPodResources(sb, announced)
}

// recordAnnouncement adds the resources to the record of the sandbox. If that fails, the
// sandbox still runs, and plugins do not receive the resources after a restart.
func recordAnnouncement(ctx context.Context, sb *sandboxstore.Sandbox, record *sandbox.Sandbox) {
	announced := sb.Status.Get().PodResources
	if announced == nil {
		return
	}
	if err := record.AddExtension(podResourcesKey, announced.Kept()); err != nil {
		log.G(ctx).WithError(err).Warnf("a restart will lose the resources of sandbox %q", sb.ID)
	}
}

// ignoreResources counts resources that cannot be read, and logs them once for
// each pod.
func ignoreResources(ctx context.Context, sb *sandboxstore.Sandbox, source string, err error) {
	podResourcesIgnored.WithValues(strings.ReplaceAll(source, " ", "_")).Inc()
	var logged bool
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		logged, status.PodResourcesIgnored = status.PodResourcesIgnored, true
		return status, nil
	}) // it only returns the function's error
	if logged {
		return
	}
	pod := sb.Config.GetMetadata()
	log.G(ctx).WithError(err).Warnf("ignoring the resources in the %s of pod %s/%s", source, pod.GetNamespace(), pod.GetName())
}

func setPodResources(sb *sandboxstore.Sandbox, announced *podresources.Announcement) {
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.PodResources = announced
		return status, nil
	}) // it only returns the function's error
}

// configForController returns the configuration of a sandbox for its controller. It has the
// resources of containers in the field, even if they came from the annotation. CRI's own
// controller reads the record instead.
func configForController(sb *sandboxstore.Sandbox) *runtime.PodSandboxConfig {
	if sb.Sandboxer == string(criconfig.ModePodSandbox) {
		return sb.Config
	}
	return sb.Status.Get().PodResources.Put(sb.Config)
}

// recoverPodResources restores the resources of sandboxes after a restart.
func (c *criService) recoverPodResources(ctx context.Context, records []sandbox.Sandbox) {
	for _, record := range records {
		kept := &podresources.KeptAnnouncement{}
		err := record.GetExtension(podResourcesKey, kept)
		if errdefs.IsNotFound(err) {
			continue
		}
		sb, missing := c.sandboxStore.Get(record.ID)
		if missing != nil {
			continue // it was not recovered, as the log says
		}
		var announced *podresources.Announcement
		if err == nil {
			announced, err = podresources.FromKept(kept)
		}
		if err != nil {
			ignoreResources(ctx, &sb, "record", err)
			continue
		}
		setPodResources(&sb, announced)
	}
}

// showPodResources adds the resources of a sandbox's containers to its verbose
// status.
func showPodResources(sb *sandboxstore.Sandbox, info map[string]string) {
	announced := sb.Status.Get().PodResources
	if announced == nil {
		return
	}
	text, err := announced.JSON()
	if err != nil {
		text = fmt.Sprintf("%q", err.Error())
	}
	info["podResources"] = text
}
