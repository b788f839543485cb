// SPDX-License-Identifier: Apache-2.0

package nri

// RequiredPluginStatus is the status of a plugin that is required by the settings.
type RequiredPluginStatus struct {
	Name         string   `json:"name"` // as in the settings
	RequiredFor  []string `json:"requiredFor"`
	Disconnected *Span    `json:"disconnected,omitempty"` // nil if it is synchronized
}

func (l *local) requiredPlugins() []RequiredPluginStatus {
	var all []RequiredPluginStatus
	for _, p := range l.nri.RequiredPlugins() {
		s := RequiredPluginStatus{Name: p.Name, RequiredFor: l.cfg.Plugins[p.Name].RequiredFor}
		if !p.Disconnected.IsZero() {
			gone := NewSpan(p.Disconnected)
			s.Disconnected = &gone
		}
		all = append(all, s)
	}
	return all
}
