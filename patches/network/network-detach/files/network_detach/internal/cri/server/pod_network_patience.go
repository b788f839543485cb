// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/containerd/containerd/v2/core/sandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// detachFailingKey is the key of the extension in a sandbox's record with the time since when its
// CNI DEL has failed, which outlives a restart.
const detachFailingKey = "networkdetachfailing"

// detachOverdue reports whether a DEL that may never succeed has been retried for long enough.
func (c *criService) detachOverdue(sb *sandboxstore.Sandbox) bool {
	since := sb.Status.Get().DetachFailing
	patience, err := c.config.NetworkDelTime() // it was validated at start
	return err == nil && !since.IsZero() && time.Since(since) >= patience
}

// detachFailed records when the DEL of a sandbox first failed.
func (c *criService) detachFailed(ctx context.Context, sb *sandboxstore.Sandbox) {
	since := time.Now()
	if !setDetachFailing(sb, since) {
		return
	}
	// The DEL may have used up the caller's time.
	recordCtx, cancel := util.DeferContext()
	defer cancel()
	if err := c.writeDetachFailing(recordCtx, sb.ID, since); err != nil && !errdefs.IsNotFound(err) {
		log.G(ctx).WithError(err).Warnf("failed to record since when sandbox %q cannot be detached from its network: a restart will lose the time", sb.ID)
	}
}

func (c *criService) writeDetachFailing(ctx context.Context, id string, since time.Time) error {
	record, err := c.client.SandboxStore().Get(ctx, id)
	if err != nil {
		return err
	}
	if err := record.AddExtension(detachFailingKey, timestamppb.New(since)); err != nil {
		return err
	}
	_, err = c.client.SandboxStore().Update(ctx, record, "extensions."+detachFailingKey)
	return err
}

// recoverDetachFailing restores after a restart since when DELs have failed.
func (c *criService) recoverDetachFailing(ctx context.Context, records []sandbox.Sandbox) {
	for _, record := range records {
		since := &timestamppb.Timestamp{}
		err := record.GetExtension(detachFailingKey, since)
		if errdefs.IsNotFound(err) {
			continue
		}
		sb, missing := c.sandboxStore.Get(record.ID)
		switch {
		case missing != nil: // it was not recovered, as the log says
		case err != nil:
			log.G(ctx).WithError(err).Warnf("failed to read since when sandbox %q cannot be detached from its network", sb.ID)
		default:
			setDetachFailing(&sb, since.AsTime())
		}
	}
}

// setDetachFailing sets since when the DEL of a sandbox has failed, unless it is set already.
func setDetachFailing(sb *sandboxstore.Sandbox, since time.Time) (set bool) {
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		if set = status.DetachFailing.IsZero(); set {
			status.DetachFailing = since
		}
		return status, nil
	}) // it only returns the function's error
	return set
}
