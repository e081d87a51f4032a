// A folder as the kubelet mounts a ConfigMap: what it holds is exchanged at once, by turning a link.
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

  /** What the kubelet's `AtomicWriter` does: a new folder, a link to it, and the link put in the place of the old one. */
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
