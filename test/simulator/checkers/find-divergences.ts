// After the faults: what is not yet as it has to be. Empty once the world has settled.
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { type ResourceName, nodeLeaseNamespace } from '../../../src/machinery/api/resources.ts';
import { flappingTaintKey, isHealthTaint, type Taint, taintKeys } from '../../../src/machinery/api/taints.ts';
import { tolerates } from '../../../src/machinery/api/tolerations.ts';
import type { StoreReader } from '../../../src/machinery/informer/informer.ts';
import type { Replica } from '../../../src/simulator/cluster/replica.ts';
import { isReady, readyOf } from '../../../src/simulator/node-fields.ts';
import type { Storage } from '../../../src/simulator/server/storage.ts';
import type { World } from '../../../src/simulator/world.ts';
import { isBackAndOut } from './out-of-service-checker.ts';
import type { PodsReportedReady } from './pods-reported-ready.ts';

/** Something that differs from what it should be; the subject is a node, a pod or a replica. */
interface Divergence {
  readonly subject: string;
  readonly text: string;
}

/** `silent`: nodes that stay silent; all others are healthy. `reported`: pods that stay ready on them. */
export function findDivergences(
  world: World,
  silent: ReadonlySet<string>,
  reported: Pick<PodsReportedReady, 'has'>,
): readonly Divergence[] {
  const nodes: readonly Node[] = world.storage.list('nodes');
  const replicas = [...world.replicas.values()];
  return [
    ...(world.config.controllers.nodeLifecycle ? healthDivergences(world, nodes, silent) : []),
    ...(world.config.controllers.nodeLifecycle ? markDivergences(world.storage, silent, reported) : []),
    ...(world.config.controllers.taintEviction ? podDivergences(world, nodes, silent) : []),
    ...orphanDivergences(world.storage, nodes),
    ...leaderDivergences(replicas),
    ...replicas.flatMap((replica) => cacheDivergences(world.storage, replica)),
    // In eviction mode a node stays in the queue while it is not Ready, for pods that are bound to it later.
    ...(world.config.taintBasedEvictions ? replicas.flatMap(queueDivergences) : []),
  ];
}

function healthDivergences(world: World, nodes: readonly Node[], silent: ReadonlySet<string>): readonly Divergence[] {
  return [
    ...nodes.flatMap((node) => {
      const isSilent = silent.has(node.metadata.name ?? '');
      return nodeDivergences(node, isSilent, isSilent ? silentTaints(world, node) : []);
    }),
    ...zoneDivergences(world, nodes),
  ];
}

/** In eviction mode a silent node keeps the NoExecute taints that it has: a user added them, as the controller may add none. */
function silentTaints({ config }: World, { spec }: Node): readonly string[] {
  const isKept = (taint: Taint): boolean => isHealthTaint(taint) && taint.effect === 'NoExecute';
  const keys = config.taintBasedEvictions
    ? [taintKeys.unreachable]
    : (spec?.taints ?? []).filter(isKept).map(({ key }) => key);
  return [...keys.map((key) => `${key}:NoExecute`), `${taintKeys.unreachable}:NoSchedule`].sort();
}

function nodeDivergences(node: Node, isSilent: boolean, wanted: readonly string[]): readonly Divergence[] {
  const { name = '' } = node.metadata;
  const ready = readyOf(node);
  const taints = (node.spec?.taints ?? []).filter(isHealthTaint);
  const shown = taints.map(({ key, effect }) => `${key}:${effect}`).sort();
  const wantedReady = isSilent ? 'Unknown' : 'True';
  const divergences: Divergence[] = [];
  if (ready !== wantedReady) divergences.push({ subject: name, text: `Ready is ${ready}, not ${wantedReady}` });
  if (shown.join() !== wanted.join())
    divergences.push({ subject: name, text: `taints are [${shown.join(', ')}], not [${wanted.join(', ')}]` });
  if (isBackAndOut(node)) divergences.push({ subject: name, text: 'is out of service although it is back' });
  return [...divergences, ...flappingDivergences(node)];
}

/** Divergence of a node that has the flapping taint although its time is over. */
function flappingDivergences({ metadata, spec }: Node): readonly Divergence[] {
  const isKept = (spec?.taints ?? []).some(({ key }) => key === flappingTaintKey);
  return isKept ? [{ subject: metadata.name ?? '', text: `has the taint ${flappingTaintKey}` }] : [];
}

/**
 * Pods on a silent node that do not tolerate its taint for ever are marked as deleted; the toleration has expired. In eviction
 * mode all pods are.
 */
function podDivergences(
  { storage, config }: World,
  nodes: readonly Node[],
  silent: ReadonlySet<string>,
): readonly Divergence[] {
  const left = new Map(
    nodes.filter(({ metadata }) => silent.has(metadata.name ?? '')).map((node) => [node.metadata.name ?? '', node]),
  );
  const live = storage.list('pods').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isDue = (pod: Pod, { spec }: Node): boolean =>
    !config.taintBasedEvictions || (spec?.taints ?? []).some((taint) => mustLeave(pod, taint));
  return live.flatMap((pod: Pod) => {
    const { nodeName = '' } = pod.spec ?? {};
    const node = left.get(nodeName);
    if (node === undefined || !isDue(pod, node)) return [];
    return [{ subject: `default/${pod.metadata.name ?? ''}`, text: `is still on ${nodeName}` }];
  });
}

/** The pods of a silent node are not endpoints any more. */
function markDivergences(
  storage: Storage,
  silent: ReadonlySet<string>,
  reported: Pick<PodsReportedReady, 'has'>,
): readonly Divergence[] {
  const pods: readonly Pod[] = storage.list('pods');
  return pods
    .filter((pod) => !reported.has(pod))
    .filter(({ spec, metadata }) => silent.has(spec?.nodeName ?? '') && metadata.deletionTimestamp === undefined)
    .filter(isReady)
    .map(({ spec, metadata }) => {
      return {
        subject: `default/${metadata.name ?? ''}`,
        text: `is Ready on ${spec?.nodeName ?? ''}, which is silent`,
      };
    });
}

function orphanDivergences(storage: Storage, nodes: readonly Node[]): readonly Divergence[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const pods: readonly Pod[] = storage.list('pods');
  return pods
    .filter(({ spec }) => spec?.nodeName !== undefined && !names.has(spec.nodeName))
    .map(({ spec, metadata }) => {
      return {
        subject: `default/${metadata.name ?? ''}`,
        text: `is bound to ${spec?.nodeName ?? ''}, which does not exist`,
      };
    });
}

/** The leader counts the nodes of the zones as they are. */
export function zoneDivergences(world: World, nodes: readonly Node[]): readonly Divergence[] {
  const leader = world.leader();
  const zones = leader?.run?.manager.lifecycle.stages.zones;
  if (leader === undefined || zones === undefined) return [];
  const counted = zones.zones().reduce((sum, zone) => sum + (zones.plan(zone)?.why.unready ?? 0), 0);
  const unready = nodes.filter((node) => !isReady(node)).length;
  return counted === unready ? [] : [{ subject: leader.name, text: `counts ${counted} unready nodes, not ${unready}` }];
}

function mustLeave(pod: Pod, taint: Taint): boolean {
  if (taint.effect !== 'NoExecute') return false;
  const toleration = (pod.spec?.tolerations ?? []).find((candidate) => tolerates(candidate, taint));
  return toleration === undefined || toleration.tolerationSeconds !== undefined;
}

function leaderDivergences(replicas: readonly Replica[]): readonly Divergence[] {
  const leaders = replicas.filter(({ run }) => run?.manager.mayWrite() === true);
  if (leaders.length === 1) return [];
  return [{ subject: 'replicas', text: `${leaders.length} of them lead` }];
}

/** Every store equals the storage. */
function cacheDivergences(storage: Storage, { name, run }: Replica): readonly Divergence[] {
  if (run === undefined) return [{ subject: name, text: 'is not running' }];
  const { nodes, pods, leases } = run.manager.informers;
  return [
    ...storeDivergences(name, 'nodes', nodes.store, storage.list('nodes')),
    ...storeDivergences(name, 'pods', pods.store, storage.list('pods')),
    ...storeDivergences(
      name,
      'leases',
      leases.store,
      storage.list('leases').filter(({ metadata }) => metadata.namespace === nodeLeaseNamespace),
    ),
  ];
}

/** Leases change all the time: only their names are compared. */
function storeDivergences(
  replica: string,
  resource: ResourceName,
  store: StoreReader<{ readonly resourceVersion: string }>,
  objects: readonly KubeObject[],
): readonly Divergence[] {
  const wanted = new Map(objects.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion]));
  const missing = [...wanted].filter(([key, version]) => {
    const cached = store.get(key);
    return cached === undefined || (resource !== 'leases' && cached.resourceVersion !== version);
  });
  const extra = [...store.keys()].filter((key) => !wanted.has(key));
  const texts = [
    ...missing.map(([key]) => `${resource} ${key} is missing or old`),
    ...extra.map((key) => `${resource} ${key} no longer exists`),
  ];
  return texts.map((text) => ({ subject: replica, text: `cache: ${text}` }));
}

function keyOf({ namespace, name = '' }: KubeObject['metadata']): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function queueDivergences({ name: subject, run }: Replica): readonly Divergence[] {
  if (run?.manager.mayWrite() !== true) return [];
  return [...run.manager.lifecycle.stages.noExecute.queuedNodes()].map((node) => ({
    subject,
    text: `${node} is still queued`,
  }));
}
