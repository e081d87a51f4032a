// What users, administrators and webhooks do to nodes, pods and budgets, of which the controller has to make the best.
import { mapOf } from '../../../src/machinery/api/json-map.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { pauseAnnotation } from '../../../src/machinery/api/node.ts';
import { vetoAnnotations } from '../../../src/machinery/api/vetoes.ts';
import { autonomyLabel, type Pod } from '../../../src/machinery/api/pod.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { toleratesHealthFor, appLabel } from '../../../src/simulator/cluster/workload.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import { editTaints } from './administrator.ts';
import { isChosen } from './network-faults.ts';
import type { UserFault } from './world-fault.ts';

type Undo = () => void;
/** Attempt of an act, which may be refused. */
type Try = (act: () => void) => void;
type Of<K extends UserFault['kind']> = Extract<UserFault, { kind: K }>;
type Acts = { readonly [K in UserFault['kind']]: (world: World, fault: Of<K>, attempt: Try) => Undo | undefined };

const finalizer = 'example.com/kept';

const acts: Acts = {
  budget: createBudget,
  annotation: annotate,
  toleration: addTolerations,
  'health-key': writeHealthKey,
  autonomy: askForAutonomy,
  'namespace-autonomy': labelNamespace,
  jobs: runJobs,
  finalizer: addFinalizers,
  webhook: addWebhook,
};

/** Returns the function that ends it; undefined: it has no end. */
export function beginUserAct<K extends UserFault['kind']>(world: World, fault: Of<K>, attempt: Try): Undo | undefined {
  const act: Acts[K] = acts[fault.kind];
  return act(world, fault, attempt);
}

function createBudget({ storage }: World, { name, app, allowed }: Of<'budget'>, attempt: Try): Undo {
  attempt(() => storage.createBudget(name, app === undefined ? {} : { [appLabel]: app }, allowed));
  return () => attempt(() => storage.deleteBudget(name));
}

function annotate({ storage, timeline }: World, { node, key, value }: Of<'annotation'>, attempt: Try): Undo {
  const set = (text: string | null): void =>
    attempt(() => storage.merge('nodes', { name: node }, { metadata: { annotations: { [key]: text } } }));
  set(typeof value === 'string' ? value : formatTime(wallStartMs + timeline.nowMs + value.inMs));
  return () => set(null);
}

const written = [pauseAnnotation, ...vetoAnnotations];

/** Removes what a restore of etcd brought back: annotations of nodes but these (`node key`). */
export function removeAnnotations({ storage }: World, lasting: readonly string[], attempt: Try): void {
  for (const { metadata } of storage.list('nodes')) {
    const { name = '', annotations } = metadata;
    const restored = written.filter((key) => annotations?.[key] !== undefined && !lasting.includes(`${name} ${key}`));
    if (restored.length === 0) continue;
    const change = { metadata: { annotations: Object.fromEntries(restored.map((key) => [key, null])) } };
    attempt(() => storage.merge('nodes', { name }, change));
  }
}

function addTolerations({ storage, random }: World, { count, seconds }: Of<'toleration'>, attempt: Try): undefined {
  for (let left = count; left > 0; left -= 1) {
    const pods: readonly Pod[] = storage.list('pods');
    if (pods.length === 0) return;
    const pod = oneOf(random, pods);
    const tolerations = [...toleratesHealthFor(seconds), ...(pod.spec?.tolerations ?? [])];
    attempt(() => storage.merge('pods', nameOf(pod), { spec: { tolerations } }));
  }
}

function writeHealthKey({ storage }: World, { node, key, effect, act }: Of<'health-key'>, attempt: Try): undefined {
  attempt(() =>
    editTaints(storage, node, (taints) => {
      const others = taints.filter((taint) => taint.key !== key || taint.effect !== effect);
      return act === 'add' ? [...others, { key, effect }] : others;
    }),
  );
}

function askForAutonomy({ storage }: World, { share }: Of<'autonomy'>, attempt: Try): undefined {
  for (const pod of storage.list('pods')) {
    const asks = isChosen(pod.metadata.name ?? '', share) ? 'true' : null;
    const labels = { [autonomyLabel]: asks };
    attempt(() => storage.merge('pods', nameOf(pod), { metadata: { labels } }));
  }
}

function labelNamespace({ storage }: World, { asks }: Of<'namespace-autonomy'>, attempt: Try): undefined {
  const labels = { [autonomyLabel]: asks ? 'true' : null };
  attempt(() => storage.merge('namespaces', { name: 'default' }, { metadata: { labels } }));
}

function runJobs({ storage, timeline }: World, { node, count, everyMs, runMs }: Of<'jobs'>, attempt: Try): Undo {
  const names = Array.from({ length: count }, (_, index) => `job-${index + 1}`);
  const create = (name: string): void => {
    const metadata = { name, namespace: 'default', annotations: { 'hollow-kubelet/exit-after': `${runMs}ms` } };
    const spec = { nodeName: node, restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] };
    storage.create('pods', { metadata, spec } as Parameters<typeof storage.create>[1]);
  };
  for (const [index, name] of names.entries()) timeline.after(index * everyMs, () => attempt(() => create(name)));
  return () => {
    for (const name of names) attempt(() => storage.delete('pods', { namespace: 'default', name }));
  };
}

function addFinalizers(world: World, { share }: Of<'finalizer'>, attempt: Try): Undo {
  setFinalizers(world, [finalizer], ({ metadata }) => isChosen(metadata.name ?? '', share), attempt);
  return () => removeFinalizers(world, attempt);
}

/** Also those that a restore of etcd brought back. */
export function removeFinalizers(world: World, attempt: Try): void {
  setFinalizers(world, null, ({ metadata }) => metadata.finalizers?.includes(finalizer) === true, attempt);
}

function setFinalizers(
  { storage }: World,
  finalizers: readonly string[] | null,
  isMeant: (pod: KubeObject) => boolean,
  attempt: Try,
): void {
  for (const pod of storage.list('pods'))
    if (isMeant(pod)) attempt(() => storage.merge('pods', nameOf(pod), { metadata: { finalizers } }));
}

function addWebhook({ storage }: World, { resource, part }: Of<'webhook'>): Undo {
  return storage.addWebhook((target, body) => {
    const isMeant = target.resource === resource && (target.subresource ?? 'spec') === part;
    return isMeant ? withoutChanges(body) : body;
  });
}

/** The preconditions of a patch are left. */
function withoutChanges(body: unknown): unknown {
  const { uid, resourceVersion } = mapOf(mapOf(body)['metadata']);
  return { metadata: { uid, resourceVersion } };
}

function nameOf({ metadata }: KubeObject): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? 'default', name: metadata.name ?? '' };
}
