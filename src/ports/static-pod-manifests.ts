/** Where the manifests of static pods come from. Nothing here rejects: what goes wrong is an answer with its `problem`. */

/** What is at the path that was configured. `names` are those in the folder, unsorted; folders in it are among them. */
export type ManifestPlace =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'unusable'; readonly problem: string };

/** One file. `ignored`: it is no file, but a folder or a socket. `broken`: it cannot be read, or is too large. */
export type ManifestRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'ignored'; readonly problem: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** How a watch ended. `ended`: what was watched is another now, or the caller left; it can be watched anew. */
export type WatchEnd =
  | { readonly kind: 'missing' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly problem: string };

export interface ManifestWatcher {
  /** From now on nothing is missed. */
  onArmed(): void;
  /** A file came, changed or went; looking tells which. The name is empty where the path itself is the file. */
  onTouched(name: string): void;
}

/** A file or a folder of files on this machine. */
export interface ManifestFiles {
  /** As it was configured. */
  readonly path: string;
  look(): Promise<ManifestPlace>;
  /** `name`: one of the folder's, or empty for the path itself. */
  read(name: string): Promise<ManifestRead>;
  /** Resolves when the watch is over, at the latest when the signal aborts. */
  watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd>;
}

/** An answer of any status, whole; or that there is none that can be used. */
export type ManifestAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly problem: string };

export interface ManifestUrl {
  /** As it was configured, without what is secret in it. */
  readonly url: string;
  get(signal: AbortSignal): Promise<ManifestAnswer>;
}

/** What can be done with a manifest's text. */
export interface ManifestText {
  /** From YAML or JSON. */
  readonly parse: (text: string) => { readonly document: unknown } | { readonly problem: string };
  /** MD5, as 32 hexadecimal digits: for telling texts apart, not for keeping anything safe. */
  readonly digest: (text: string) => string;
}
