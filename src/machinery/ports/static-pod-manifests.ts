/** Sources of static pod manifests. No method rejects: a failure is a result with a `problem`. */

/** Object at the configured path. `names` are the entries of the directory, unsorted, subdirectories included. */
export type ManifestPlace =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'unusable'; readonly problem: string };

/** One file. `ignored`: not a regular file, but a directory or a socket. `broken`: unreadable or too large. */
export type ManifestRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'ignored'; readonly problem: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** End of a watch. `ended`: the watched path was replaced, or the caller aborted; it can be watched again. */
export type WatchEnd =
  | { readonly kind: 'missing' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly problem: string };

export interface ManifestWatcher {
  /** Every change from now on is reported. */
  onArmed(): void;
  /** A file was created, changed or deleted; reading it shows which. The name is empty if the path itself is the file. */
  onTouched(name: string): void;
}

/** A file or a directory of files on this machine. */
export interface ManifestFiles {
  /** Path as configured. */
  readonly path: string;
  look(): Promise<ManifestPlace>;
  /** `name`: an entry of the directory, or empty for the path itself. */
  read(name: string): Promise<ManifestRead>;
  /** Resolves when the watch ends, at the latest when the signal aborts. */
  watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd>;
}

/** A complete response of any status, or a failure. */
export type ManifestAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly problem: string };

export interface ManifestUrl {
  /** URL as configured, without credentials. */
  readonly url: string;
  get(signal: AbortSignal): Promise<ManifestAnswer>;
}

/** Operations on a manifest's text. */
export interface ManifestText {
  /** From YAML or JSON. */
  readonly parse: (text: string) => { readonly document: unknown } | { readonly problem: string };
  /** MD5, as 32 hexadecimal digits: for change detection, not for security. */
  readonly digest: (text: string) => string;
}
