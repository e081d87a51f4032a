package main

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Written is what standard output contains.
type Written struct {
	// Digest of the index of all platforms.
	Digest    string            `json:"digest"`
	Platforms []WrittenPlatform `json:"platforms"`
}

// WrittenPlatform has sizes in bytes, compressed.
type WrittenPlatform struct {
	Platform string  `json:"platform"`
	Digest   string  `json:"digest"`
	Layers   []int64 `json:"layers"`
}

// writeLayout writes a layout with one entry, the index of all platforms and their statements.
func writeLayout(description Description, platforms []builtPlatform) (Written, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        platform.image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: platform.OS, Architecture: platform.Architecture}},
		})
	}
	for _, platform := range platforms {
		added, err := withAttestation(index, platform)
		if err != nil {
			return Written{}, err
		}
		index = added
	}
	index = mutate.Annotations(index, description.Annotations).(v1.ImageIndex)
	path, err := layout.Write(description.Layout, empty.Index)
	if err != nil {
		return Written{}, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(namesOf(description.Name))); err != nil {
		return Written{}, err
	}
	return describe(index, platforms)
}

// withAttestation adds the statements as BuildKit does: platform unknown, and the digest of the image as an annotation.
func withAttestation(index v1.ImageIndex, platform builtPlatform) (v1.ImageIndex, error) {
	if platform.attestation == nil {
		return index, nil
	}
	digest, err := platform.image.Digest()
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{
		"vnd.docker.reference.type":   "attestation-manifest",
		"vnd.docker.reference.digest": digest.String(),
	}
	return mutate.AppendManifests(index, mutate.IndexAddendum{
		Add: platform.attestation,
		Descriptor: v1.Descriptor{
			Platform:    &v1.Platform{OS: "unknown", Architecture: "unknown"},
			Annotations: annotations,
		},
	}), nil
}

func describe(index v1.ImageIndex, platforms []builtPlatform) (Written, error) {
	digest, err := index.Digest()
	if err != nil {
		return Written{}, err
	}
	written := Written{Digest: digest.String()}
	for _, platform := range platforms {
		manifest, err := platform.image.Manifest()
		if err != nil {
			return Written{}, err
		}
		own, err := platform.image.Digest()
		if err != nil {
			return Written{}, err
		}
		entry := WrittenPlatform{Platform: platform.OS + "/" + platform.Architecture, Digest: own.String()}
		for _, layer := range manifest.Layers {
			entry.Layers = append(entry.Layers, layer.Size)
		}
		written.Platforms = append(written.Platforms, entry)
	}
	return written, nil
}
