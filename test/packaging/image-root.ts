// The root file system of an image, entered as a container runtime does: a mount namespace, a read-only root, the user of the image, no
// groups. What a kubelet would mount is mounted. Needs unshare and chroot on the machine, and none of them in the image.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageConfig } from '../../tools/packaging/image/parse-containerfile.ts';

/** Arguments: the root, the user, then pairs of a folder and its path in the root up to `--`, then the command. */
const script = `set -e
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; mount -o remount,bind,ro "$root$2"; shift 2; done
shift
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" "$@"`;

export class ImageRoot {
  readonly folder: string;
  readonly #config: ImageConfig;
  readonly #mounts: string[] = [];

  /** `folder` has the files of the image. */
  constructor(folder: string, config: ImageConfig) {
    this.folder = folder;
    this.#config = config;
    writeFileSync(join(folder, 'etc', 'hosts'), '127.0.0.1 localhost\n');
  }

  /** Mounts these files at a path, read-only. */
  mount(path: string, files: Readonly<Record<string, string>>): void {
    const source = mkdtempSync(join(tmpdir(), 'nlc-image-mount-'));
    mkdirSync(join(this.folder, path), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
    spawnSync('chmod', ['--recursive', 'go+rX', source]);
    this.#mounts.push(source, path);
  }

  /** The command and arguments that run the entrypoint with these arguments. */
  command(args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
    return this.#enter([...this.#config.Entrypoint, ...args]);
  }

  /** Runs a program of the image to its end. */
  run(program: readonly string[]): SpawnSyncReturns<string> {
    const { command, args } = this.#enter(program);
    return spawnSync(command, args, { encoding: 'utf8', env: this.environment(), timeout: 60_000 });
  }

  /** Runs the entrypoint to its end. */
  runEntrypoint(args: readonly string[]): SpawnSyncReturns<string> {
    return this.run([...this.#config.Entrypoint, ...args]);
  }

  /** The environment of the image, and that of the machine is not inherited. */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const own = this.#config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    return { ...Object.fromEntries(own), ...extra };
  }

  #enter(program: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
    const isRoot = process.getuid?.() === 0;
    const namespaces = isRoot ? ['--mount'] : ['--mount', '--map-root-user', '--map-auto'];
    const args = [this.folder, this.#config.User, ...this.#mounts, '--', ...program];
    return {
      command: '/usr/bin/unshare',
      args: [...namespaces, '--propagation=private', '/bin/bash', '-c', script, 'enter', ...args],
    };
  }
}
