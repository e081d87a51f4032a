// Every event that is told: made by the code's own functions where there are such, with names in capitals for what varies,
// and when it is told in words. A test finds what is told and has no row here.
import type { EventDraft, EventType } from '../../src/api/event.ts';
import { cancellingDeletion, markingForDeletion } from '../../src/controller/eviction/events.ts';
import { nodeNotReady, nodeRegistered, nodeRemoved } from '../../src/controller/health/events.ts';
import { actsHeld, actsResumed, zoneFailure } from '../../src/controller/outage/events.ts';
import { deletingAllPods, nodeControllerEviction } from '../../src/controller/pod-eviction/events.ts';
import { podNodeNotReady } from '../../src/controller/pod-readiness/events.ts';
import { verdictsFrozen, verdictsResumed } from '../../src/controller/sight/events.ts';
import { becameLeader, stoppedLeading } from '../../src/election/events.ts';
import { describeRejection } from '../../src/kubelet/admission/describe-rejection.ts';
import { networkWords, outOfDiskWords, pressureWords } from '../../src/kubelet/node-status/derive-conditions.ts';
import { duplicatePodName } from '../../src/kubelet/pod-config/events.ts';
import {
  exceededGracePeriod,
  failedKillPod,
  failedSync,
  networkNotReadyEvent,
} from '../../src/kubelet/pod-workers/events.ts';
import {
  describeRuntimeEvent,
  type EventText,
  runtimeEvent,
} from '../../src/kubelet/runtime/describe-runtime-event.ts';

export interface EventRow {
  readonly component: string;
  /** The function in the code that makes it; the reason where it is made on the spot. */
  readonly madeBy: string;
  readonly draft: EventDraft;
  readonly when: string;
}

const node = { name: 'NODE', uid: 'UID' };
const pod = { namespace: 'NAMESPACE', name: 'POD', uid: 'UID', nodeName: 'NODE' };
const kubeletPod = { metadata: { namespace: 'NAMESPACE', name: 'POD', uid: 'UID' } };
const lease = { metadata: { namespace: 'kube-system', name: 'node-lifecycle-controller' } };
const fell = { zone: 'REGION/ZONE', together: 18, of: 20, windowMs: 12_000 };

type Maker = (...given: never[]) => EventDraft;

function row<M extends Maker>(component: string, maker: M, given: Parameters<M>, when: string): EventRow {
  return { component, madeBy: maker.name, draft: maker(...given), when };
}

const nodes = 'node-controller';
const evictions = 'taint-eviction-controller';
const own = 'node-lifecycle-controller';

type Reckoning = Parameters<typeof zoneFailure>[0];
const zoneFell = { ...fell, outage: 'ZoneFailure', zonesStruck: 1, zones: 3, shareMin: 0.6 } satisfies Reckoning;
const pathFell = { ...zoneFell, outage: 'ControlPlanePathFailure', together: 54, of: 60, zonesStruck: 3 } as const;

export const controllerEvents: readonly EventRow[] = [
  row(
    nodes,
    nodeRegistered,
    [node],
    'A node is seen for the first time by this process: again after every restart and change of leader',
  ),
  row(nodes, nodeRemoved, [node], 'A known node is gone, or another one bears its name'),
  row(
    nodes,
    nodeNotReady,
    [node],
    'This controller, not the kubelet, changed Ready from True to Unknown; after the write',
  ),
  row(nodes, podNodeNotReady, [pod], 'A pod of a silent node was marked not ready; after the write'),
  row(
    nodes,
    verdictsFrozen,
    ['no-contact'],
    'Nodes are not judged for now. The last word says why: `no-contact`, `streams-not-open`, `stream-behind` or `observing`',
  ),
  row(nodes, verdictsResumed, [21_500], 'They are judged again'),
  row(nodes, zoneFailure, [zoneFell], 'Most of a zone fell silent together; once for all of them'),
  row(
    nodes,
    actsHeld,
    [pathFell, 300_000],
    'Most nodes of several zones fell silent together: a hold of `--control-plane-path-failure-hold` begins',
  ),
  row(nodes, actsResumed, [pathFell, 94_000, 'recovered'], 'The hold ended because enough nodes are heard again'),
  row(nodes, actsResumed, [pathFell, 300_000, 'expired'], 'The hold ended because its time was over'),
  row(nodes, deletingAllPods, [node], 'Eviction mode: the turn of a node with pods came'),
  row(
    nodes,
    nodeControllerEviction,
    [{ ...pod } as Parameters<typeof nodeControllerEviction>[0]],
    'Eviction mode: once for each pod that is deleted, before it is',
  ),
  row(
    evictions,
    markingForDeletion,
    [pod],
    'A pod is about to be deleted because of a NoExecute taint; once, however often it is tried',
  ),
  row(
    evictions,
    cancellingDeletion,
    [pod],
    'A scheduled deletion was called off: its taint, its node or the pod is gone, or it tolerates for ever now',
  ),
  row(own, becameLeader, [lease, 'HOST_ID'], 'The lease was won'),
  row(
    own,
    stoppedLeading,
    [lease, 'HOST_ID'],
    'The lease is about to be given back. Who lost it says nothing: it may not write',
  ),
];

const kubelet = 'kubelet';

function running(key: keyof typeof runtimeEvent, text: EventText, when: string): EventRow {
  const container = text.reason.includes('SandBox') || key === 'sandboxChanged' ? undefined : aContainer;
  const draft = describeRuntimeEvent({ namespace: 'NAMESPACE', name: 'POD', uid: 'UID' }, container, text);
  return { component: kubelet, madeBy: `runtimeEvent.${key}`, draft, when };
}

const aContainer = { name: 'CONTAINER', kind: 'container' } as const;

function ofNode(type: EventType, reason: string, message: string, when: string): EventRow {
  const draft = { about: { kind: 'Node', name: 'NODE', uid: 'NODE' }, type, reason, message };
  return { component: kubelet, madeBy: reason, draft, when };
}

const nowIs = (reason: string, when: string): EventRow =>
  ofNode('Normal', reason, `Node NODE status is now: ${reason}`, when);

const conditionEvents = Object.entries({ ...pressureWords, NetworkUnavailable: networkWords }).flatMap(
  ([type, { holds, clear }]) => [
    nowIs(holds.event, `The condition ${type} came to hold`),
    nowIs(clear.event, `It no longer does, or was told for the first time`),
  ],
);

export const kubeletEvents: readonly EventRow[] = [
  ofNode('Normal', 'Starting', 'Starting kubelet.', 'A kubelet starts'),
  ofNode(
    'Warning',
    'Rebooted',
    'Node NODE has been rebooted, boot id: BOOTID',
    'The machine has another boot id than the node says',
  ),
  nowIs('NodeReady', 'Ready became True'),
  nowIs('NodeNotReady', 'The kubelet itself says that it is not ready'),
  nowIs('NodeNotSchedulable', 'Somebody closed the node to new pods'),
  nowIs('NodeSchedulable', 'Somebody opened it again'),
  ...conditionEvents,
  nowIs(outOfDiskWords.clear.event, 'Kubelets of 1.8 (`--profile=classic`) say it once'),
  ofNode('Warning', 'EvictionThresholdMet', 'Attempting to reclaim RESOURCE', 'Memory, disk or process ids are short'),
  ofNode(
    'Normal',
    'Shutdown',
    'Shutdown manager detected shutdown event',
    'The machine goes down, or stays up after all (`... shutdown cancellation`)',
  ),
  {
    component: kubelet,
    madeBy: 'Evicted',
    draft: {
      about: { kind: 'Pod', namespace: 'NAMESPACE', name: 'POD', uid: 'UID' },
      type: 'Warning',
      reason: 'Evicted',
      message: 'The node was low on resource: RESOURCE. ...',
    },
    when: 'A pod has to go because something is short',
  },
  row(
    kubelet,
    rejection,
    [],
    'A pod is not admitted. The reason is that of the refusal: `OutOfcpu` and the like, `OutOfpods`, `NodeAffinity`, `TaintToleration`, `Evicted`, `NodeShutdown`',
  ),
  row(kubelet, duplicatePodName, [kubeletPod, 'file'], 'Two static pods of one source bear one name'),
  row(
    kubelet,
    networkNotReadyEvent,
    [kubeletPod, 'network is not ready: WHY'],
    'A pod waits for the network of the node',
  ),
  row(kubelet, failedSync, [kubeletPod, 'WHY'], 'The runtime would not say how the pod is'),
  row(kubelet, failedKillPod, [kubeletPod, 'WHY'], 'The runtime would not stop the pod'),
  row(kubelet, exceededGracePeriod, [kubeletPod], 'A pod that has to go did not end in its time'),
  running('pulling', runtimeEvent.pulling('IMAGE'), 'An image is fetched'),
  running('pulled', runtimeEvent.pulled('IMAGE', 1_200, 30_000_000, 'modern'), 'It is there'),
  running('present', runtimeEvent.present('IMAGE', 'modern'), 'It was there already'),
  running('pullFailed', runtimeEvent.pullFailed('IMAGE', 'WHY'), 'It could not be fetched'),
  running('neverPulled', runtimeEvent.neverPulled('IMAGE'), 'It is not there and may not be fetched'),
  running('pullBackOff', runtimeEvent.pullBackOff('IMAGE'), 'It waits to be fetched again'),
  running('created', runtimeEvent.created('CONTAINER', 'modern'), 'A container was made'),
  running('started', runtimeEvent.started('CONTAINER', 'modern'), 'It was started'),
  running('startFailed', runtimeEvent.startFailed('WHY'), 'It could not be made or started'),
  running('killing', runtimeEvent.killing('Stopping container CONTAINER'), 'It is stopped; the message may say why'),
  running(
    'crashBackOff',
    runtimeEvent.crashBackOff('CONTAINER', { ...kubeletPod.metadata }),
    'It waits to be started again',
  ),
  running('sandboxChanged', runtimeEvent.sandboxChanged(), 'The pod has to be made anew'),
  running('sandboxFailed', runtimeEvent.sandboxFailed('WHY'), 'The pod could not be made'),
];

function rejection(): EventDraft {
  const refusal = {
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: N, used: N, capacity: N",
  };
  return describeRejection(kubeletPod, refusal).event;
}
