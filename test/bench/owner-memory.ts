// Started by the bench of field ownership: writes the objects of a large cluster into a registry, each as its program does,
// and reports the memory that they take, encoded as after they were sent to a watch.
import { setImmediate } from 'node:timers/promises';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { ObjectRegistry } from '../../src/hollow-cluster/apiserver/registry/object-registry.ts';
import { ServedTargets } from '../../src/hollow-cluster/apiserver/registry/served-targets.ts';
import { makeStrategies } from '../../src/hollow-cluster/apiserver/kinds/strategies.ts';
import { servedResources } from '../../src/hollow-cluster/apiserver/resources.ts';
import { VersionedStore } from '../../src/hollow-cluster/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../support/fakes.ts';
import type { Kind } from './cluster-objects.ts';
import { makeObject } from './owned-writes.ts';

export interface MemoryFigures {
  readonly objects: string;
  /** Grown since before the first object. */
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly rssBytes: number;
}

const [owners, scale] = process.argv.slice(2);
const counts = { nodes: 5_000, leases: 5_000, pods: 20_000 } as const;
const clock = new SystemClock();
const strategies = makeStrategies(300);
const store = new VersionedStore({ clock, resources: [...strategies.keys()], window: { eventsMin: 1, eventsMax: 1 } });
const registry = new ObjectRegistry(store, clock, new SeededRandom(1));
const targets = new ServedTargets(servedResources, strategies);
const options = { dryRun: false, fieldValidation: 'Warn' } as const;

function by(manager: string): typeof options & { readonly manager?: string } {
  return owners === 'with' ? { ...options, manager } : options;
}

/** A kubelet creates its node and its lease, and writes the status of its node and its pods; each once more later. */
function write(kind: Kind, index: number): void {
  const group = kind === 'leases' ? 'coordination.k8s.io' : '';
  const object = makeObject(kind, index);
  const { metadata, status } = object as { readonly metadata: { name: string; namespace?: string }; status: unknown };
  const target = { ...targets.of(group, kind), namespace: metadata.namespace };
  registry.create(target, object, by(kind === 'pods' ? 'kube-controller-manager' : 'kubelet'));
  if (kind === 'leases') return;
  const named = { ...target, name: metadata.name, endpoint: 'status' } as const;
  registry.patch(named, { type: 'merge', body: { status } }, by('kubelet'));
  void registry.get(named).tail;
}

async function usage(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
  return process.memoryUsage();
}

for (const name of ['kube-node-lease', 'team-001']) {
  registry.create(targets.of('', 'namespaces'), { metadata: { name } }, options);
}
const before = await usage();
const listed: string[] = [];
for (const kind of ['nodes', 'leases', 'pods'] as const) {
  const count = Math.round(counts[kind] * Number(scale));
  for (let index = 0; index < count; index += 1) write(kind, index);
  listed.push(`${count} ${kind}`);
}
store.compact();
const after = await usage();
const figures: MemoryFigures = {
  objects: listed.join(', '),
  heapBytes: after.heapUsed - before.heapUsed,
  externalBytes: after.external - before.external,
  rssBytes: after.rss,
};
process.send?.(figures);
