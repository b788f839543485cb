// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/containerd/nri/pkg/api"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Bounds of the data that a plugin registers with, in bytes (L22).
const (
	maxPluginName = 64 // names of DRA drivers have up to 63
	maxNRIVersion = 64
)

// errRegistration is the reason why the data of a plugin's registration is rejected.
type errRegistration struct{ error }

func (e *errRegistration) Unwrap() error { return e.error }

// status is the error that the plugin receives.
func (e *errRegistration) status() error { return status.Error(codes.InvalidArgument, e.Error()) }

// checkRegistration rejects data that must not get into logs, metrics and memory. Plugins
// that the runtime has launched have the names of their files, whatever they register with.
func checkRegistration(req *RegisterPluginRequest, external bool) *errRegistration {
	if err := invalidRegistration(req, external); err != nil {
		return &errRegistration{err}
	}
	return nil
}

func invalidRegistration(req *RegisterPluginRequest, external bool) error {
	if v := req.GetNRIVersion(); len(v) > maxNRIVersion || !utf8.ValidString(v) || strings.IndexFunc(v, notPrintable) >= 0 {
		return fmt.Errorf("invalid NRI version %q (%d bytes)", clipped(v), len(v))
	}
	if !external {
		return nil
	}
	if name := req.GetPluginName(); len(name) > maxPluginName {
		return fmt.Errorf("plugin name %q has %d bytes, more than %d", clipped(name), len(name), maxPluginName)
	}
	if err := api.CheckPluginName(req.GetPluginName()); err != nil {
		return err
	}
	return api.CheckPluginIndex(clipped(req.GetPluginIdx()))
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// clipped is the part of a peer's string that errors quote.
func clipped(s string) string {
	const most = 32
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// knownPolicy is a policy without unknown fields.
func knownPolicy(p *FailurePolicy) *FailurePolicy {
	if p == nil {
		return nil
	}
	return &FailurePolicy{FailRequest: p.GetFailRequest(), KeepConnected: p.GetKeepConnected()}
}
