// An OCI image of one static program, as an archive that `ctr images import` reads.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];

/** Writes the image `name` of the program to `file`. It runs as user 65532. */
export async function writeImageArchive(program: string, name: string, file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const root = join(folder, 'root');
    const layout = join(folder, 'layout');
    mkdirSync(root);
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
    copyFileSync(program, join(root, 'app'));
    await runProgram('tar', [...fixed, '--directory', root, '--create', '--file', join(folder, 'layer.tar'), '.']);
    writeLayout(layout, name, readFileSync(join(folder, 'layer.tar')));
    await runProgram('tar', [...fixed, '--directory', layout, '--create', '--file', file, '.']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeLayout(layout: string, name: string, layer: Buffer): void {
  const put = (mediaType: string, content: Buffer): object => {
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(layout, 'blobs/sha256', digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
  const vendor = 'application/vnd.oci.image';
  const diff = `sha256:${createHash('sha256').update(layer).digest('hex')}`;
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { User: '65532:65532', Entrypoint: ['/app'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [diff] },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: `${vendor}.manifest.v1+json`,
    config: put(`${vendor}.config.v1+json`, json(config)),
    layers: [put(`${vendor}.layer.v1.tar`, layer)],
  };
  const entry = put(`${vendor}.manifest.v1+json`, json(manifest));
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
  const index = { schemaVersion: 2, mediaType: `${vendor}.index.v1+json`, manifests: [{ ...entry, annotations }] };
  writeFileSync(join(layout, 'index.json'), json(index));
  writeFileSync(join(layout, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
}
