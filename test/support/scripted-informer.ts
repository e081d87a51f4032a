import type { KubeObject, ObjectMeta } from '../../src/machinery/api/meta.ts';
import { SharedInformer, type SharedInformerOptions } from '../../src/machinery/informer/shared-informer.ts';
import type { WatchEvent } from '../../src/machinery/ports/kube-reader.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { RecordingLogger, RecordingMeter, type LogLine } from './fakes.ts';
import { ScriptedReader, type ScriptedStream } from './scripted-reader.ts';

interface ScriptedView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly problems?: readonly string[];
}

/** An informer of nodes whose API server is the test. Delays have no jitter. */
export class ScriptedInformer {
  readonly api = new ScriptedReader();
  readonly clock = new ManualClock();
  readonly meter = new RecordingMeter();
  readonly logger = new RecordingLogger();
  readonly informer: SharedInformer<KubeObject, ScriptedView>;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: Partial<SharedInformerOptions<KubeObject, ScriptedView>> = {}) {
    const { api, clock, meter, logger } = this;
    this.informer = new SharedInformer({
      resource: 'nodes',
      transform: ({ metadata }: KubeObject) => viewOf(metadata),
      identity: (view) => view,
      problemsOf: (view) => view.problems,
      random: { next: () => 0 },
      api,
      clock,
      meter,
      logger,
      ...options,
    });
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.#stop.signal);
    await settled();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Responds to the streaming list with these nodes, at version 100. */
  async synced(...names: readonly string[]): Promise<ScriptedStream> {
    const stream = await this.api.nextWatch().accept();
    await stream.send(...names.map((name) => added(name, '90')), initialEnd('100'));
    return stream;
  }

  /** `name@resourceVersion` of each object in the store. */
  get stored(): readonly string[] {
    return [...this.informer.store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).sort();
  }

  relists(cause: string): number {
    return this.meter.series.get(`reflector_relists_total{resource="nodes",cause="${cause}"}`) ?? 0;
  }

  warnings(pattern: RegExp): readonly LogLine[] {
    return this.logger.lines.filter(({ level, message }) => level === 'warn' && pattern.test(message));
  }
}

function viewOf({ name = '', uid = '', resourceVersion = '' }: ObjectMeta): ScriptedView {
  return { name, uid, resourceVersion };
}

export function anObject(name: string, resourceVersion: string): KubeObject {
  return { metadata: { name, resourceVersion, uid: `uid-${name}` } };
}

export const added = (name: string, version: string): WatchEvent => ({
  type: 'ADDED',
  object: anObject(name, version),
});
export const modified = (name: string, version: string): WatchEvent => ({
  type: 'MODIFIED',
  object: anObject(name, version),
});
export const bookmark = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion } },
});
export const initialEnd = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } },
});
