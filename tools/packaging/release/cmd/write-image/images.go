package main

import (
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"
)

const (
	statementType = "https://in-toto.io/Statement/v1"
	inToto        = types.MediaType("application/vnd.in-toto+json")
	// The type under which BuildKit attaches statements; registries list it as the type of the artefact.
	attestationType = types.MediaType("application/vnd.docker.attestation.manifest.v1+json")
)

type builtPlatform struct {
	Platform
	image v1.Image
	// The image manifest that carries the statements; nil without statements.
	attestation v1.Image
}

func buildPlatforms(description Description, folder string) ([]builtPlatform, error) {
	built := make([]builtPlatform, len(description.Platforms))
	var group errgroup.Group
	for i, platform := range description.Platforms {
		group.Go(func() (err error) {
			built[i], err = buildPlatform(description, platform, folder)
			return err
		})
	}
	return built, group.Wait()
}

func buildPlatform(description Description, platform Platform, folder string) (builtPlatform, error) {
	image, err := buildImage(description, platform, folder)
	if err != nil {
		return builtPlatform{}, err
	}
	attestation, err := buildAttestation(image, platform.Attestations, description.Name)
	return builtPlatform{Platform: platform, image: image, attestation: attestation}, err
}

func buildImage(description Description, platform Platform, folder string) (v1.Image, error) {
	created := v1.Time{Time: description.Created.UTC()}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Created: created, Config: description.Config,
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	for _, layer := range platform.Layers {
		built, err := buildLayer(layer, folder)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: created, CreatedBy: layer.Comment}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: built, History: history}); err != nil {
			return nil, err
		}
	}
	return mutate.Annotations(image, description.Annotations).(v1.Image), nil
}

// buildAttestation returns an image manifest in BuildKit's format, whose layers are in-toto statements about the image. It names the
// image as its subject, so that a registry lists it as a referrer.
func buildAttestation(image v1.Image, attestations []Attestation, name string) (v1.Image, error) {
	subject, err := descriptorOf(image)
	if err != nil || len(attestations) == 0 {
		return nil, err
	}
	built := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	for _, attestation := range attestations {
		statement, err := statementOf(attestation, subject.Digest, name)
		if err != nil {
			return nil, err
		}
		annotations := map[string]string{"in-toto.io/predicate-type": attestation.PredicateType}
		layer := mutate.Addendum{Layer: static.NewLayer(statement, inToto), Annotations: annotations}
		if built, err = mutate.Append(built, layer); err != nil {
			return nil, err
		}
	}
	return mutate.Subject(mutate.ConfigMediaType(built, attestationType), subject).(v1.Image), nil
}

func descriptorOf(image v1.Image) (v1.Descriptor, error) {
	digest, err := image.Digest()
	if err != nil {
		return v1.Descriptor{}, err
	}
	size, err := image.Size()
	return v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: digest, Size: size}, err
}

func statementOf(attestation Attestation, digest v1.Hash, name string) ([]byte, error) {
	subject := map[string]any{"name": name, "digest": map[string]string{digest.Algorithm: digest.Hex}}
	return json.Marshal(map[string]any{
		"_type":         statementType,
		"subject":       []any{subject},
		"predicateType": attestation.PredicateType,
		"predicate":     attestation.Predicate,
	})
}
