// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// statusFile has the CNI error that STATUS of the chained plugin answers with. Without the file,
// STATUS succeeds.
const statusFile = "/run/hookline-e2e/status"

// runCNI is a CNI plugin that passes on the result of the previous one.
func runCNI([]string) error {
	switch os.Getenv("CNI_COMMAND") {
	case "VERSION":
		_, err := fmt.Println(`{"cniVersion":"1.1.0","supportedVersions":["0.4.0","1.0.0","1.1.0"]}`)
		return err
	case "STATUS":
		text, err := os.ReadFile(statusFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		_, _ = os.Stdout.Write(text) // STATUS fails in any case
		os.Exit(1)
	case "ADD":
		var config struct {
			PrevResult json.RawMessage `json:"prevResult"`
		}
		if err := json.NewDecoder(os.Stdin).Decode(&config); err != nil {
			return err
		}
		_, err := os.Stdout.Write(config.PrevResult)
		return err
	}
	return nil
}
