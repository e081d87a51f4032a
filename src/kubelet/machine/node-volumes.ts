/** What the status says of volumes, and what it has to tell back (kubelet `VolumeManager`, of it what a status needs). */
export interface NodeVolumes {
  /** Does it know yet what is in use? Before, the stored list is left alone. */
  hasSynced(): boolean;
  /** By their unique names, as `kubernetes.io/csi/driver^volume`. */
  volumesInUse(): readonly string[];
  /** The API server knows these as in use: now they may be mounted. */
  markReportedInUse(volumes: readonly string[]): void;
}

/** Of a node without attachable volumes. Shared by all of them. */
export const noVolumes: NodeVolumes = {
  hasSynced: () => true,
  volumesInUse: () => [],
  markReportedInUse() {},
};

/** Attachable volumes that are nothing but names: in use once wanted, mounted once reported. */
export class FakeVolumes implements NodeVolumes {
  readonly #wanted = new Set<string>();
  #reported: readonly string[] = [];
  #synced = false;

  /** The reconciler has looked once: what it knows is all there is. */
  sync(): void {
    this.#synced = true;
  }

  /** A pod needs it. */
  use(volume: string): void {
    this.#wanted.add(volume);
  }

  /** No pod needs it any more. */
  release(volume: string): void {
    this.#wanted.delete(volume);
  }

  /** In use, and the API server knows it. */
  isMounted(volume: string): boolean {
    return this.#wanted.has(volume) && this.#reported.includes(volume);
  }

  get reported(): readonly string[] {
    return this.#reported;
  }

  hasSynced(): boolean {
    return this.#synced;
  }

  volumesInUse(): readonly string[] {
    return [...this.#wanted];
  }

  markReportedInUse(volumes: readonly string[]): void {
    this.#reported = volumes;
  }
}
