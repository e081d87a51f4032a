// The packages in the image besides the program, with versions and checksums. `npm run image:pins` writes the file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const pinsFile = join(import.meta.dirname, 'pinned-inputs.json');

export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

export interface DebianPackage {
  readonly name: string;
  /** `all` for packages without machine code. */
  readonly architecture: Architecture | 'all';
  readonly version: string;
  /** Below the address of a mirror, such as `debian/pool/main/...`. */
  readonly path: string;
  readonly sha256: string;
}

export interface NodePackage {
  /** In the npm registry. */
  readonly name: string;
  /** As in package-lock.json: `sha512-` and base64. */
  readonly integrity: string;
}

export interface PinnedInputs {
  readonly debian: {
    readonly suite: string;
    /** A time at which snapshot.debian.org has all packages. */
    readonly snapshot: string;
    readonly packages: readonly DebianPackage[];
  };
  readonly node: { readonly version: string } & Readonly<Record<Architecture, NodePackage>>;
}

export function readPins(): PinnedInputs {
  return JSON.parse(readFileSync(pinsFile, 'utf8')) as PinnedInputs;
}

export function debianPackagesOf({ debian }: PinnedInputs, architecture: Architecture): readonly DebianPackage[] {
  return debian.packages.filter((one) => one.architecture === architecture || one.architecture === 'all');
}
