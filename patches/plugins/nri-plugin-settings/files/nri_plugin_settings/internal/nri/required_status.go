// SPDX-License-Identifier: Apache-2.0

package nri

// RequiredPluginStatus is the status of a plugin that is required by the settings.
type RequiredPluginStatus struct {
	Name        string   `json:"name"` // as in the settings
	RequiredFor []string `json:"requiredFor"`
	Away        *Span    `json:"away,omitempty"` // nil if it is synchronized
}

func (l *local) requiredPlugins() []RequiredPluginStatus {
	var all []RequiredPluginStatus
	for _, p := range l.nri.RequiredPlugins() {
		s := RequiredPluginStatus{Name: p.Name, RequiredFor: l.cfg.Plugins[p.Name].RequiredFor}
		if !p.Away.IsZero() {
			away := NewSpan(p.Away)
			s.Away = &away
		}
		all = append(all, s)
	}
	return all
}
