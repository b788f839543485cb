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

// podResourcesKey is of the extension in a sandbox's record that keeps what its
// containers ask for over a restart.
const podResourcesKey = "podresources"

// takeAnnouncement reads what the containers of a sandbox that is to be created
// ask for. What cannot be read is logged and ignored (R4).
func (c *criService) takeAnnouncement(ctx context.Context, sb *sandboxstore.Sandbox) {
	announced, source, err := podresources.Take(sb.Config, c.config.PodResourcesAnnotation)
	if err != nil {
		ignoreResources(ctx, sb, string(source), err)
		return
	}
	setPodResources(sb, announced)
}

// recordAnnouncement adds it to the record of the sandbox. Without it the sandbox
// runs as well, and plugins are told nothing after a restart.
func recordAnnouncement(ctx context.Context, sb *sandboxstore.Sandbox, record *sandbox.Sandbox) {
	announced := sb.Status.Get().PodResources
	if announced == nil {
		return
	}
	if err := record.AddExtension(podResourcesKey, announced.Kept()); err != nil {
		log.G(ctx).WithError(err).Warnf("the resources of sandbox %q will be forgotten with a restart", sb.ID)
	}
}

// ignoreResources counts what a client told and nobody can read, and logs it once
// for each pod.
func ignoreResources(ctx context.Context, sb *sandboxstore.Sandbox, source string, err error) {
	podResourcesIgnored.WithValues(strings.ReplaceAll(source, " ", "_")).Inc()
	var logged bool
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		logged, status.PodResourcesIgnored = status.PodResourcesIgnored, true
		return status, nil
	}) // it has no error but that of the function
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
	}) // it has no error but that of the function
}

// configForController is the configuration of a sandbox for a controller that
// makes it from that: with what containers ask for in one place, wherever it came
// from. CRI's own controller reads the record.
func configForController(sb *sandboxstore.Sandbox) *runtime.PodSandboxConfig {
	if sb.Sandboxer == string(criconfig.ModePodSandbox) {
		return sb.Config
	}
	return sb.Status.Get().PodResources.Put(sb.Config)
}

// recoverPodResources gives sandboxes from before a restart what was kept.
func (c *criService) recoverPodResources(ctx context.Context, records []sandbox.Sandbox) {
	for _, record := range records {
		kept := &podresources.KeptAnnouncement{}
		err := record.GetExtension(podResourcesKey, kept)
		if errdefs.IsNotFound(err) {
			continue
		}
		sb, missing := c.sandboxStore.Get(record.ID)
		if missing != nil {
			continue // it was not recovered, and that is logged
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

// showPodResources adds what the containers of a sandbox ask for to its verbose
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
