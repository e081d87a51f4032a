// A directory as the kubelet mounts a ConfigMap: its content is replaced atomically through a symbolic link.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class ConfigMapFolder {
  readonly file: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'nlc-config-map-'));
  #version = 0;

  constructor(text: string) {
    this.file = join(this.#folder, 'config.yaml');
    this.turn(text);
    symlinkSync(join('..data', 'config.yaml'), this.file);
  }

  /** As the kubelet's `AtomicWriter`: a new directory, a link to it, and a rename of the link over the old one. */
  turn(text: string): void {
    const before = `..v${this.#version}`;
    this.#version += 1;
    const now = `..v${this.#version}`;
    mkdirSync(join(this.#folder, now));
    writeFileSync(join(this.#folder, now, 'config.yaml'), text);
    symlinkSync(now, join(this.#folder, '..data_tmp'));
    renameSync(join(this.#folder, '..data_tmp'), join(this.#folder, '..data'));
    rmSync(join(this.#folder, before), { recursive: true, force: true });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
