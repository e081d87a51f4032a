// Reads an OCI layout.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageConfig } from '../../tools/packaging/image/parse-containerfile.ts';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Index {
  readonly manifests: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly subject?: Descriptor;
}

export interface ConfigFile {
  readonly created: string;
  readonly os: string;
  readonly architecture: string;
  readonly config: ImageConfig;
}

interface Statement {
  readonly subject: readonly { readonly digest: { readonly sha256: string } }[];
  readonly predicateType: string;
  readonly predicate: Readonly<Record<string, unknown>>;
}

export class OciLayout {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The only entry of the layout. */
  get root(): Descriptor {
    const { manifests } = JSON.parse(readFileSync(join(this.#folder, 'index.json'), 'utf8')) as Index;
    const [root, ...others] = manifests;
    if (root === undefined || others.length > 0) throw new Error(`${manifests.length} entries`);
    return root;
  }

  get index(): Index {
    return this.#read(this.root) as Index;
  }

  /** The manifests of a platform such as `linux/amd64`, or `unknown/unknown` for statements. */
  of(platform: string): readonly Descriptor[] {
    return this.index.manifests.filter(({ platform: one }) => `${one?.os}/${one?.architecture}` === platform);
  }

  manifest(descriptor: Descriptor): Manifest {
    return this.#read(descriptor) as Manifest;
  }

  configFile(descriptor: Descriptor): ConfigFile {
    return this.#read(descriptor) as ConfigFile;
  }

  statement(descriptor: Descriptor): Statement {
    return this.#read(descriptor) as Statement;
  }

  #read({ digest }: Descriptor): unknown {
    return JSON.parse(readFileSync(this.blob(digest), 'utf8'));
  }

  blob(digest: string): string {
    return join(this.#folder, 'blobs', ...digest.split(':'));
  }
}
