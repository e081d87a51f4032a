package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// namesOf are the annotations by which programs that load an archive name the image.
func namesOf(name string) map[string]string {
	_, tag, _ := strings.Cut(name, ":")
	return map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/library/" + name,
	}
}

// writeArchive writes the layout as a tar file. It also has a manifest.json for programs that read docker's format, which has one
// platform: that of the image.
func writeArchive(description Description, image v1.Image) error {
	manifest, err := dockerManifest(description.Name, image)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(description.Archive, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	text := string(manifest)
	entries := []Entry{{Path: "manifest.json", Mode: 0o644, Text: &text}}
	err = filepath.WalkDir(description.Layout, func(path string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		name, err := filepath.Rel(description.Layout, path)
		entries = append(entries, Entry{Path: filepath.ToSlash(name), Mode: 0o644, File: path})
		return err
	})
	if err != nil {
		return err
	}
	if err := writeEntries(file, withFolders(entries)); err != nil {
		return err
	}
	return file.Close()
}

func dockerManifest(name string, image v1.Image) ([]byte, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	entry := tarball.Descriptor{Config: blobPath(manifest.Config.Digest), RepoTags: []string{name}}
	for _, layer := range manifest.Layers {
		entry.Layers = append(entry.Layers, blobPath(layer.Digest))
	}
	return json.Marshal(tarball.Manifest{entry})
}

func blobPath(digest v1.Hash) string {
	return "blobs/" + digest.Algorithm + "/" + digest.Hex
}
