import type {
  ManifestAnswer,
  ManifestFiles,
  ManifestPlace,
  ManifestRead,
  ManifestUrl,
  ManifestWatcher,
  WatchEnd,
} from '../../src/machinery/ports/static-pod-manifests.ts';

/** An in-memory directory of manifests. It notifies its watcher of each change, unless the test disables that. */
export class ManifestFolder implements ManifestFiles {
  readonly path = '/etc/manifests';
  readonly files = new Map<string, string>();
  exists = true;
  /** Undefined: the path is a directory; else the path itself is the file. */
  single: string | undefined;
  watchFailure: string | undefined;
  readonly watchedAt: number[] = [];
  #watcher: ManifestWatcher | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => 0) {
    this.#now = now;
  }

  get isWatched(): boolean {
    return this.#watcher !== undefined;
  }

  /** Writes a file; with `silent` the watcher is not notified and only a listing finds it. */
  write(name: string, text: string, silently = false): void {
    this.files.set(name, text);
    if (!silently) this.touch(name);
  }

  delete(name: string): void {
    this.files.delete(name);
    this.touch(name);
  }

  touch(name: string): void {
    this.#watcher?.onTouched(name);
  }

  async look(): Promise<ManifestPlace> {
    if (!this.exists) return { kind: 'missing' };
    return this.single === undefined ? { kind: 'folder', names: [...this.files.keys()] } : { kind: 'file' };
  }

  async read(name: string): Promise<ManifestRead> {
    const text = name === '' ? this.single : this.files.get(name);
    return text === undefined ? { kind: 'gone' } : { kind: 'text', text };
  }

  async watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd> {
    this.watchedAt.push(this.#now());
    if (!this.exists) return { kind: 'missing' };
    if (this.watchFailure !== undefined) return { kind: 'failed', problem: this.watchFailure };
    this.#watcher = watcher;
    watcher.onArmed();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    this.#watcher = undefined;
    return { kind: 'ended' };
  }
}

/** A URL with a scripted response. */
export class ManifestPage implements ManifestUrl {
  readonly url = 'http://manifests.test/pods';
  answer: ManifestAnswer = { kind: 'failed', problem: 'connection refused' };
  asked = 0;

  show(text: string, status = 200): void {
    this.answer = { kind: 'answer', status, text };
  }

  async get(): Promise<ManifestAnswer> {
    this.asked += 1;
    return this.answer;
  }
}

/** A manifest as written by a user. */
export function aManifest(name: string, extra: { readonly uid?: string; readonly image?: string } = {}): string {
  const { uid, image = 'img:1' } = extra;
  const lines = ['apiVersion: v1', 'kind: Pod', 'metadata:', `  name: ${name}`, '  namespace: kube-system'];
  if (uid !== undefined) lines.push(`  uid: ${uid}`);
  return [...lines, 'spec:', '  containers:', '  - name: c', `    image: ${image}`, ''].join('\n');
}
