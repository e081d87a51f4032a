package main

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
)

// One level less saves a quarter of the time and adds 1.5 % bytes; two levels more quadruple the time and save 1 %.
const compressionLevel = 7

// buildLayer writes the compressed layer into the folder, so that its content is compressed once.
func buildLayer(layer Layer, folder string) (v1.Layer, error) {
	file, err := os.CreateTemp(folder, "layer-*.tar.gz")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	compressed, err := gzip.NewWriterLevel(file, compressionLevel)
	if err != nil {
		return nil, err
	}
	if err := writeEntries(compressed, withFolders(layer.Entries)); err != nil {
		return nil, fmt.Errorf("layer %q: %w", layer.Comment, err)
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromFile(file.Name(), tarball.WithMediaType(types.OCILayer))
}

// withFolders adds the folders of all entries, and sorts by path.
func withFolders(entries []Entry) []Entry {
	byPath := map[string]Entry{}
	for _, entry := range entries {
		for folder := path.Dir(entry.Path); folder != "."; folder = path.Dir(folder) {
			if _, known := byPath[folder]; !known {
				byPath[folder] = Entry{Path: folder, Mode: 0o755}
			}
		}
		byPath[entry.Path] = entry
	}
	all := make([]Entry, 0, len(byPath))
	for _, entry := range byPath {
		all = append(all, entry)
	}
	sort.Slice(all, func(a, b int) bool { return all[a].Path < all[b].Path })
	return all
}

func writeEntries(to io.Writer, entries []Entry) error {
	writer := tar.NewWriter(to)
	for _, entry := range entries {
		if err := writeEntry(writer, entry); err != nil {
			return fmt.Errorf("%s: %w", entry.Path, err)
		}
	}
	return writer.Close()
}

func writeEntry(writer *tar.Writer, entry Entry) error {
	header := &tar.Header{Name: entry.Path, Mode: entry.Mode, Format: tar.FormatPAX}
	switch {
	case entry.Link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, entry.Link
		return writer.WriteHeader(header)
	case entry.Text != nil:
		return writeContent(writer, header, strings.NewReader(*entry.Text), int64(len(*entry.Text)))
	case entry.File != "":
		return writeFile(writer, header, entry.File)
	default:
		header.Typeflag, header.Name = tar.TypeDir, entry.Path+"/"
		return writer.WriteHeader(header)
	}
}

func writeFile(writer *tar.Writer, header *tar.Header, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return writeContent(writer, header, file, info.Size())
}

func writeContent(writer *tar.Writer, header *tar.Header, content io.Reader, size int64) error {
	header.Typeflag, header.Size = tar.TypeReg, size
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(writer, content)
	return err
}
