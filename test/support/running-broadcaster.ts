import assert from 'node:assert/strict';
import type { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../src/machinery/adapters/system-random.ts';
import type { Broadcaster } from '../../src/machinery/events/broadcaster.ts';
import { type EventsApi, makeBroadcaster } from '../../src/machinery/events/events-api.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';

/** A running broadcaster and its recorder. */
export class RunningBroadcaster {
  readonly #api: HttpKubeApi;
  readonly #meter = new RecordingMeter();
  readonly #broadcaster: Broadcaster;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(eventsApi: EventsApi, api: HttpKubeApi) {
    this.#api = api;
    this.#broadcaster = makeBroadcaster(eventsApi, {
      api,
      clock: new SystemClock(),
      random: new SystemRandom(),
      logger: new RecordingLogger(),
      meter: this.#meter,
      host: 'host',
    });
    this.#running = this.#broadcaster.run(this.#stop.signal);
  }

  get recorder(): ReturnType<Broadcaster['recorder']> {
    return this.#broadcaster.recorder('reporter');
  }

  /** `REASON COUNT` of the dropped Events. */
  get drops(): readonly string[] {
    return [...this.#meter.series].map(([series, count]) => `${/reason="(.+)"/.exec(series)?.[1]} ${count}`);
  }

  record(object: string, message: string, reason = 'Reported'): void {
    this.recorder.record({ about: { apiVersion: 'v1', kind: 'Node', name: object }, type: 'Normal', reason, message });
  }

  /** Waits until all Events are written, without stopping. */
  async settle(): Promise<void> {
    assert.equal(await this.#broadcaster.flush(60_000), 0);
  }

  /** Stops: writes the remaining Events, counts included. */
  async flush(): Promise<void> {
    await this.settle();
    this.#stop.abort();
    await this.#running;
    assert.equal(await this.#broadcaster.flush(5_000), 0);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#api.close();
  }
}
