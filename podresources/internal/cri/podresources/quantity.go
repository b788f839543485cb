// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var largest = *resource.NewQuantity(MaxQuantity, resource.BinarySI)

// ParseQuantity reads a quantity as Kubernetes writes it: "500m", "1Gi". A quantity that is
// negative, or reaches MaxQuantity, is an error.
func ParseQuantity(text string) (resource.Quantity, error) {
	q, err := parseQuantity(text)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("quantity %q: %w", clip(text), err)
	}
	return q, nil
}

func parseQuantity(text string) (resource.Quantity, error) {
	if len(text) >= maxQuantityText {
		return resource.Quantity{}, fmt.Errorf("%d characters, want less than %d", len(text), maxQuantityText)
	}
	// The exponent is checked first: the parser, and any comparison, would write out all its
	// digits.
	if at := strings.IndexAny(text, "eE"); at >= 0 && len(strings.TrimLeft(text[at+1:], "+-0")) > maxExponentDigits {
		return resource.Quantity{}, fmt.Errorf("exponent of more than %d digits", maxExponentDigits)
	}
	q, err := resource.ParseQuantity(text)
	switch {
	case text == "":
		return q, errors.New("is empty")
	case err != nil:
		return q, err
	case q.Sign() < 0:
		return q, errors.New("is negative")
	case q.Cmp(largest) >= 0:
		return q, errors.New("want less than 1Ei")
	}
	return q, nil
}

// clip shortens a text that an error quotes.
func clip(text string) string {
	const enough = 200
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "") + "..."
}
