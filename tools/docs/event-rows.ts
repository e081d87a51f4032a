// All Events: created by the functions of the code where possible, with placeholders in capital letters, and with a
// description of when they are recorded. A test finds Events without a row.
import type { EventDraft, EventType } from '../../src/machinery/api/event.ts';
import { cancellingDeletion, markingForDeletion } from '../../src/controller/taint-eviction/events.ts';
import { nodeNotReady, nodeRegistered, nodeRemoved } from '../../src/controller/health/events.ts';
import { actsHeld, actsResumed, zoneFailure } from '../../src/controller/outage/events.ts';
import { deletingAllPods, nodeControllerEviction } from '../../src/controller/pod-eviction-mode/events.ts';
import {
  addedOutOfService,
  backInService,
  fencingNotProven,
  neverFenced,
} from '../../src/controller/out-of-service/events.ts';
import { nodeOverdue } from '../../src/controller/early-warning/events.ts';
import { keptFlapping, malformedFlapping, releasedFlapping } from '../../src/controller/flapping/events.ts';
import { evictionsNotKnown } from '../../src/controller/policies/hourly-evictions.ts';
import { breakerClosed, breakerOpened, malformedPause } from '../../src/controller/policies/events.ts';
import { podNodeNotReady } from '../../src/controller/pod-readiness/events.ts';
import { evaluationPaused, evaluationResumed } from '../../src/controller/freshness/events.ts';
import { invalidResetAnnotation, policyNotAccepted } from '../../src/policy/objects/events.ts';
import { becameLeader, stoppedLeading } from '../../src/machinery/election/events.ts';
import { networkTexts, pressureTexts } from '../../src/hollow-cluster/kubelet/node-status/build-conditions.ts';
import {
  duplicatePodName,
  exceededGracePeriod,
  failedKillPod,
  failedSync,
  networkNotReadyEvent,
  podRejected,
} from '../../src/hollow-cluster/kubelet/pod-config/events.ts';
import {
  describeRuntimeEvent,
  type EventText,
  runtimeEvent,
} from '../../src/hollow-cluster/kubelet/runtime/describe-runtime-event.ts';
import { podScheduled, schedulingFailed } from '../../src/hollow-cluster/scheduler/events.ts';
import { schedulerName } from '../../src/hollow-cluster/scheduler/scheduler.ts';

export interface EventRow {
  readonly component: string;
  /** The function that creates it, or its reason if it is created inline. */
  readonly madeBy: string;
  readonly draft: EventDraft;
  readonly when: string;
}

const node = { name: 'NODE', uid: 'UID' };
const pod = { namespace: 'NAMESPACE', name: 'POD', uid: 'UID', nodeName: 'NODE' };
const kubeletPod = { metadata: { namespace: 'NAMESPACE', name: 'POD', uid: 'UID' } };
const lease = { metadata: { namespace: 'kube-system', name: 'node-lifecycle-controller' } };
const silent = { zone: 'REGION/ZONE', together: 18, of: 20, windowMs: 12_000 };

type Maker = (...given: never[]) => EventDraft;

function row<M extends Maker>(component: string, maker: M, given: Parameters<M>, when: string): EventRow {
  return { component, madeBy: maker.name, draft: maker(...given), when };
}

const nodes = 'node-controller';
const evictions = 'taint-eviction-controller';
const own = 'node-lifecycle-controller';

type ZoneFailureDetails = Parameters<typeof zoneFailure>[0];
const controlPlane = { together: 3, of: 3, evidence: 'silent' } as const;
const zoneSilent = {
  ...silent,
  outage: 'ZoneFailure',
  zonesStruck: 1,
  zones: 3,
  shareMin: 0.6,
  controlPlane,
} satisfies ZoneFailureDetails;
const recoveredSilent = { ...zoneSilent, outage: 'NodeFailure', together: 3, of: 60, zonesStruck: 0 } as const;
const pathSilent = { ...zoneSilent, outage: 'ControlPlanePathFailure', together: 54, of: 60, zonesStruck: 3 } as const;

const breakerCount = { nodes: 40, unhealthy: 18, exempt: 0, limit: 16 } as const;

export const controllerEvents: readonly EventRow[] = [
  row(
    nodes,
    nodeRegistered,
    [node],
    'The leader observes a node for the first time: also after every restart and change of leader',
  ),
  row(nodes, nodeRemoved, [node], 'A node was deleted, or replaced by a new node with the same name'),
  row(nodes, nodeNotReady, [node], 'This controller changed Ready from True to Unknown; after the write'),
  row(nodes, podNodeNotReady, [pod], 'A pod of a silent node was marked Ready=False; after the write'),
  row(nodes, evaluationPaused, ['no-contact'], 'Node health evaluation is paused. The message contains the reason'),
  row(nodes, evaluationResumed, [21_500], 'Node health evaluation has resumed'),
  row(nodes, zoneFailure, [zoneSilent], 'Most nodes of a zone became silent at once; one Event for all of them'),
  row(
    nodes,
    actsHeld,
    [pathSilent, 300_000],
    'Most nodes of several zones became silent at once: a hold of `--control-plane-path-failure-hold` starts',
  ),
  row(
    nodes,
    actsResumed,
    [pathSilent, 94_000, recoveredSilent],
    'The hold ended because the silence is no path failure any more: nodes renewed their leases, were deleted, or are in maintenance',
  ),
  row(nodes, actsResumed, [pathSilent, 300_000, null], 'The hold ended because its time limit was reached'),
  row(
    nodes,
    malformedPause,
    [{ ...node, pause: 'VALUE' }],
    'The value of the pause annotation of a node cannot be read; once for each value',
  ),
  row(
    nodes,
    addedOutOfService,
    [node, 'taint node.cloudprovider.kubernetes.io/shutdown'],
    'A policy and a label allow the taint out-of-service, and it is proven that the node was fenced',
  ),
  row(
    nodes,
    fencingNotProven,
    [node, 'taint node.cloudprovider.kubernetes.io/shutdown', 'disproved'],
    'Nothing but the proof is missing for the taint out-of-service: a heartbeat came after the evidence, or the order is not known',
  ),
  row(
    nodes,
    nodeOverdue,
    [node, { silentMs: 25_000, leftMs: 25_000 }],
    'A node of a policy with earlyWarning sends no heartbeats: once for each silence, as far as 20 at once and one in 5 s allow',
  ),
  row(nodes, backInService, [node], 'A node with the taint out-of-service reports another boot ID'),
  row(
    nodes,
    neverFenced,
    [node, 'annotation nodelifecycle/fenced'],
    'A node with the taint out-of-service is Ready in the boot that was said to be fenced; once for each return',
  ),
  row(
    nodes,
    keptFlapping,
    [node, { recoveries: 3, rule: { withinMs: 3_600_000 }, untilMs: Date.parse('2026-11-24T12:35:00Z') }],
    'A node of a policy with `flapping` recovered so often that it gets no new pods for a while; at each such recovery',
  ),
  row(nodes, releasedFlapping, [node, 'WHY'], 'A node that was kept from new pods gets them again'),
  row(
    nodes,
    malformedFlapping,
    [{ ...node, flapping: 'VALUE' }],
    'The annotation of a node that is kept from new pods cannot be read, so that it is removed with the taint',
  ),
  row(
    nodes,
    breakerOpened,
    [{ policy: 'POLICY', inherited: false, count: breakerCount }],
    'More nodes of a policy are unhealthy than its limits allow, or a new leader goes on with the cooldown',
  ),
  row(
    nodes,
    evictionsNotKnown,
    ['POLICY', 20, Date.parse('2026-11-21T12:00:00Z')],
    'A process that started less than an hour ago evicts the first pod of a policy with `maxEvictionsPerHour`',
  ),
  row(
    nodes,
    breakerClosed,
    [{ policy: 'POLICY', why: 'cooldown-over', openMs: 720_000, count: { ...breakerCount, unhealthy: 2 } }],
    'The cooldown is over, the breaker was reset, or the policy has no limits any more',
  ),
  row(
    own,
    policyNotAccepted,
    [
      { name: 'POLICY', uid: 'UID' },
      'spec.FIELD: must be ACCEPTED (got VALUE); generation 2 of the spec stays in force',
    ],
    'The current version of a NodeLifecyclePolicy object is not in force; once for each version',
  ),
  row(
    own,
    invalidResetAnnotation,
    [
      { name: 'POLICY', uid: 'UID' },
      'metadata.annotations[nodelifecycle/reset-breaker]: must be an RFC 3339 time that is not in the future (got "VALUE")',
    ],
    'The annotation of a NodeLifecyclePolicy object resets no breaker now; once for each value',
  ),
  row(nodes, deletingAllPods, [node], 'Eviction mode: the pods of a node are about to be deleted'),
  row(
    nodes,
    nodeControllerEviction,
    [{ ...pod } as Parameters<typeof nodeControllerEviction>[0]],
    'Eviction mode: before each pod deletion',
  ),
  row(
    evictions,
    markingForDeletion,
    [pod],
    'A pod is about to be deleted because of a NoExecute taint; once, also if the deletion is retried',
  ),
  row(
    evictions,
    cancellingDeletion,
    [pod],
    'A scheduled deletion was cancelled: the taint, the node or the pod is gone, or the pod now tolerates the taint without a limit',
  ),
  row(own, becameLeader, [lease, 'HOST_ID'], 'The lease was acquired'),
  row(
    own,
    stoppedLeading,
    [lease, 'HOST_ID'],
    'The lease is about to be released. A leader that lost its lease records nothing, because it may not write',
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

const conditionEvents = Object.entries({ ...pressureTexts, NetworkUnavailable: networkTexts }).flatMap(
  ([type, { holds, clear }]) => [
    nowIs(holds.event, `The condition ${type} became True`),
    nowIs(clear.event, `The condition ${type} became False, or was posted for the first time`),
  ],
);

export const kubeletEvents: readonly EventRow[] = [
  ofNode('Normal', 'Starting', 'Starting kubelet.', 'A kubelet starts'),
  ofNode(
    'Warning',
    'Rebooted',
    'Node NODE has been rebooted, boot id: BOOTID',
    'The boot id of the machine differs from that of the node',
  ),
  nowIs('NodeReady', 'Ready became True'),
  nowIs('NodeNotReady', 'The kubelet posted Ready=False'),
  nowIs('NodeNotSchedulable', 'The node was cordoned'),
  nowIs('NodeSchedulable', 'The node was uncordoned'),
  ...conditionEvents,
  ofNode('Warning', 'EvictionThresholdMet', 'Attempting to reclaim RESOURCE', 'Memory or disk are low'),
  ofNode(
    'Normal',
    'Shutdown',
    'Shutdown manager detected shutdown event',
    'The machine shuts down, or its shutdown is cancelled (`... shutdown cancellation`)',
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
    when: 'A pod is evicted because a resource is low',
  },
  row(
    kubelet,
    podRejected,
    [kubeletPod, 'OutOfcpu', "Node didn't have enough resource: cpu, requested: N, used: N, capacity: N"],
    'A pod is not admitted. The reason is that of the rejection: `OutOfcpu` and the like, `OutOfpods`, `PodOSNotSupported`, `NodeAffinity`, `NodePorts`, `TaintToleration`, `Evicted`, `NodeShutdown`',
  ),
  row(kubelet, duplicatePodName, [kubeletPod, 'file'], 'Two static pods of one source have the same name'),
  row(
    kubelet,
    networkNotReadyEvent,
    [kubeletPod, 'network is not ready: WHY'],
    'A pod waits for the network of the node',
  ),
  row(kubelet, failedSync, [kubeletPod, 'WHY'], 'The runtime did not return the status of the pod'),
  row(kubelet, failedKillPod, [kubeletPod, 'WHY'], 'The runtime failed to stop the pod'),
  row(kubelet, exceededGracePeriod, [kubeletPod], 'An evicted pod did not terminate within its grace period'),
  running('pulling', runtimeEvent.pulling('IMAGE'), 'An image is pulled'),
  running('pulled', runtimeEvent.pulled('IMAGE', 1_200, 30_000_000), 'An image was pulled'),
  running('present', runtimeEvent.present('IMAGE'), 'An image was already present'),
  running('pullFailed', runtimeEvent.pullFailed('IMAGE', 'WHY'), 'An image could not be pulled'),
  running('neverPulled', runtimeEvent.neverPulled('IMAGE'), 'An image is missing and must not be pulled'),
  running('pullBackOff', runtimeEvent.pullBackOff('IMAGE'), 'A failed image pull waits for its retry'),
  running('created', runtimeEvent.created(), 'A container was created'),
  running('started', runtimeEvent.started(), 'A container was started'),
  running('startFailed', runtimeEvent.startFailed('WHY'), 'A container could not be created or started'),
  running(
    'killing',
    runtimeEvent.killing('Stopping container CONTAINER'),
    'A container is stopped; the message may contain the reason',
  ),
  running(
    'crashBackOff',
    runtimeEvent.crashBackOff('CONTAINER', { ...kubeletPod.metadata }),
    'A failed container waits for its restart',
  ),
  running('unhealthy', runtimeEvent.unhealthy('liveness'), 'A probe fails, because an annotation of the pod says so'),
  running('sandboxChanged', runtimeEvent.sandboxChanged(), 'The sandbox of the pod is created again'),
  running('sandboxFailed', runtimeEvent.sandboxFailed('WHY'), 'The sandbox of the pod could not be created'),
];

const scheduledPod = { metadata: { namespace: 'NAMESPACE', name: 'POD', uid: 'UID' } };

export const schedulerEvents: readonly EventRow[] = [
  row(schedulerName, podScheduled, [scheduledPod, 'NODE'], 'A pod was bound to a node'),
  row(
    schedulerName,
    schedulingFailed,
    [scheduledPod, '0/N nodes are available: N Insufficient cpu, N node(s) had untolerated taint(s).'],
    'A pod fits no node; again when the message changes',
  ),
];
