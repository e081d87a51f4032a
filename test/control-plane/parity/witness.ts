// Records every watch event of nodes, pods and Events with its time, so that short-lived states (a taint that is removed
// again) are not missed.
import type { RestClient, WatchFrame } from '../rest-client.ts';

const watched = {
  nodes: '/api/v1/nodes?watch=true',
  pods: '/api/v1/pods?watch=true',
  events: '/api/v1/events?watch=true',
} as const;

export type Watched = keyof typeof watched;

export interface Sighting {
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
  readonly of: Watched;
  readonly frame: WatchFrame;
}

export class Witness {
  readonly #sightings: Sighting[] = [];
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>[];
  #failure: unknown;

  constructor(client: RestClient) {
    this.#watching = Object.entries(watched).map(([of, path]) => this.#watch(client, of as Watched, path));
  }

  /** All watch events so far, in order. Throws if a watch has ended. */
  sightings(): readonly Sighting[] {
    if (this.#failure !== undefined) throw new Error('a watch has ended', { cause: this.#failure });
    return [...this.#sightings];
  }

  /** Time since the last watch event. */
  quietMs(): number {
    return performance.now() - (this.#sightings.at(-1)?.atMs ?? 0);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watching);
  }

  async #watch(client: RestClient, of: Watched, path: string): Promise<void> {
    try {
      for await (const frame of client.watch(path, this.#stop.signal))
        this.#sightings.push({ atMs: performance.now(), of, frame });
      this.#failure = new Error(`the server ended the watch of ${of}`);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failure = error;
    }
  }
}
