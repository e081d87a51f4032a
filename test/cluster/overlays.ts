// Overlays of one's own over the repository's manifests, as docs/install.md has them.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedOverlay } from './documented-commands.ts';
import type { Stage } from './stage.ts';

const root = join(import.meta.dirname, '..', '..');

/** Writes the overlay of the document, over `base` or an overlay of manifests, and returns its folder. */
export function writeOverlay({ cluster }: Stage, over: string): string {
  const { folder } = cluster.settings;
  cpSync(join(root, 'manifests'), join(folder, 'manifests'), { recursive: true });
  const overlay = join(folder, 'overlays', over.replaceAll('/', '-'));
  mkdirSync(overlay, { recursive: true });
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    documentedOverlay().replace('manifests/base', `manifests/${over}`),
  );
  return overlay;
}

/** The objects of the controller are those of the overlay, and no others. */
export async function expectObjectsOf({ installation }: Stage, folder: string): Promise<void> {
  const [found, wanted] = [await installation.objects(), await installation.objectsOf(folder)];
  const left = found.filter((name) => !wanted.includes(name));
  const missing = wanted.filter((name) => !found.includes(name));
  if (left.length + missing.length > 0)
    throw new Error(`beside the overlay there are [${left.join(', ')}], and [${missing.join(', ')}] is missing`);
}
