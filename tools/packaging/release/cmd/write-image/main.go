// Writes a container image for several platforms as an OCI layout and as an archive, from a description on standard input.
// Equal descriptions and files give equal bytes: file times are zero, owners are root, and entries are sorted.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Description is what standard input contains.
type Description struct {
	// Folder of the layout and file of the archive. Both must not exist.
	Layout  string
	Archive string
	// Name and tag under which the archive is loaded, such as name:1.0.0.
	Name        string
	Created     time.Time
	Annotations map[string]string
	Config      v1.Config
	Platforms   []Platform
}

// Platform is one image of the index.
type Platform struct {
	OS           string
	Architecture string
	Layers       []Layer
	Attestations []Attestation
}

// Layer is a list of files under one comment in the history of the image.
type Layer struct {
	Comment string
	Entries []Entry
}

// Entry is a file with the content of another file or a text, a symbolic link, or a folder if none of them is set.
type Entry struct {
	// Path is relative and without a leading or trailing slash.
	Path string
	Mode int64
	File string
	Text *string
	Link string
}

// Attestation is a statement about the image of a platform, without the subject, which is the digest of that image.
type Attestation struct {
	PredicateType string
	Predicate     json.RawMessage
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "write-image:", err)
		os.Exit(1)
	}
}

func run() error {
	var description Description
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&description); err != nil {
		return fmt.Errorf("description: %w", err)
	}
	temporary, err := os.MkdirTemp("", "write-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	platforms, err := buildPlatforms(description, temporary)
	if err != nil {
		return err
	}
	written, err := writeLayout(description, platforms)
	if err != nil {
		return err
	}
	if err := writeArchive(description, platforms[0].image); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(written)
}
