// The manifests that `npm run manifests` renders from the chart, with an overlay applied as kustomize does for these files.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const folder = join(import.meta.dirname, '..', '..', 'manifests');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** All objects of the base, changed by an overlay; without one, those of mode `replace`. */
export function readManifests(overlay?: string): readonly Manifest[] {
  const base = ['namespace.yaml', 'resources.yaml'].flatMap((file) => documentsOf(join(folder, 'base', file)));
  const patches = overlay === undefined ? [] : documentsOf(join(folder, 'overlays', overlay, 'patch.yaml'));
  return patches.reduce(applyTo, base);
}

function documentsOf(file: string): readonly Manifest[] {
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest);
}

/** Lists are replaced: roles and config files are not merged any deeper. */
function applyTo(objects: readonly Manifest[], patch: Manifest): readonly Manifest[] {
  const isTarget = (object: Manifest): boolean => idOf(object) === idOf(patch);
  if (!objects.some(isTarget)) throw new Error(`no object for the patch of ${idOf(patch)}`);
  if (patch['$patch'] === 'delete') return objects.filter((object) => !isTarget(object));
  return objects.map((object) => {
    return isTarget(object) ? { ...object, ...patch, metadata: { ...object.metadata, ...patch.metadata } } : object;
  });
}

function idOf({ kind, metadata: { name, namespace = '' } }: Manifest): string {
  return `${kind} ${namespace}/${name}`;
}
