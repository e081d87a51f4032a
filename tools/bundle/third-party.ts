// The packages in the bundle and their licence texts, which must be distributed with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The text of the licence file; empty if the package has none. */
  readonly text: string;
}

const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** The packages of the bundle's inputs (paths relative to the root), sorted by name. */
export function bundledPackages(root: string, inputs: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(inputs.flatMap((input) => packageFolder.exec(input)?.[0] ?? []));
  const packages = [...folders].map((folder) => readPackage(join(root, folder)));
  return packages.sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

function readPackage(folder: string): BundledPackage {
  const manifest: BundledPackage = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license } = manifest;
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const path = join(folder, file ?? '');
  return {
    name,
    version,
    license,
    text: file !== undefined && existsSync(path) ? readFileSync(path, 'utf8').trim() : '',
  };
}

export function noticesText(packages: readonly BundledPackage[]): string {
  const entries = packages.map(({ name, version, license, text }) => `${name} ${version}\n${license}\n\n${text}\n`);
  return `The files of this package contain code of these packages, under these licences.\n\n${entries.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
