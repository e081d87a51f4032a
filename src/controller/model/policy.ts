/** Policies: settings and a mode for the nodes that a label selector matches. */
import type { LabelRequirement } from '../../machinery/api/label-selector.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { VetoOwner } from '../../machinery/api/vetoes.ts';

/**
 * `Enforce`: acts. `Detect`: marks and taints NoSchedule, and evicts nothing for the health of its nodes. `Observe`: evaluates and
 * reports, and writes nothing for its nodes and their pods. `Paused`: holds what makes a node or its pods worse; recovery goes on.
 */
export const policyModes = ['Enforce', 'Detect', 'Observe', 'Paused'] as const;

export type PolicyMode = (typeof policyModes)[number];

/** Limits of evictions that are one number each, by the names of their fields; absent or undefined: no limit. */
export const evictionLimits = ['podDeletionsPerSecond', 'maxConcurrentEvictions', 'maxEvictionsPerHour'] as const;

/**
 * `podDeletionsPerSecond`: rate of deletions and evictions of pods for the health of these nodes. `maxConcurrentEvictions`: how many
 * of these nodes may be emptied at once. `maxEvictionsPerHour`: how many of their pods may be evicted for their health within an hour.
 */
export type EvictionLimits = Readonly<Partial<Record<(typeof evictionLimits)[number], number | undefined>>>;

export interface NodePolicy extends EvictionLimits {
  readonly name: string;
  /** The highest one that matches a node applies to it. */
  readonly priority: number;
  /** All must match. Of equal priorities the selector with more requirements applies. */
  readonly selector: readonly LabelRequirement[];
  readonly mode: PolicyMode;
  /** What mode Detect does; absent: it marks pods, and has no end. */
  readonly detect?: DetectRule | undefined;
  /** Absent: no pod may ask to be kept while its node is unhealthy. */
  readonly podAutonomy?: PodAutonomyRule | undefined;
  /** How long after its grace period a terminating pod of a node that is not Ready is stuck; absent: none ever is. */
  readonly terminatingTimeoutMs?: number | undefined;
  /** Absent: marks of other tools mean nothing. */
  readonly vetoes?: VetoRule | undefined;
  /** Absent: a silent node is reported when it is Unknown. */
  readonly earlyWarning?: EarlyWarningRule | undefined;
  /** How long a node reports NotReady when its pods are marked NotReady; absent: its kubelet reports them. */
  readonly markPodsOfNotReadyAfterMs?: number | undefined;
  /** Absent: a node is silent when its grace period is over. */
  readonly detection?: DetectionRule | undefined;
  /** Undefined: the setting of the controller. */
  readonly nodeMonitorGracePeriodMs: number | undefined;
  readonly nodeStartupGracePeriodMs: number | undefined;
  /** Undefined: nothing means planned maintenance. */
  readonly maintenance: MaintenanceRule | undefined;
  /** Undefined: none. */
  readonly limits: PolicyLimits | undefined;
  /** Undefined: the taint out-of-service is never added. */
  readonly outOfService: OutOfServiceRule | undefined;
  /** Undefined: no node is kept because it recovers often. */
  readonly flapping: FlappingRule | undefined;
  /** Undefined: its nodes are in the same zones as those of other policies. */
  readonly zones: PolicyZones | undefined;
  /** Undefined: pods of reachable nodes are deleted as those of all others. */
  readonly evictReachable: EvictReachableRule | undefined;
  /** Pods in phase Succeeded or Failed are not evicted for the health of these nodes. */
  readonly keepCompletedPods: boolean;
  /** When other settings hold; of several at once each setting is that of the first one that sets it. */
  readonly schedules?: readonly PolicySchedule[] | undefined;
  /** Whose settings this policy has now. */
  readonly windows?: readonly ScheduleWindow[] | undefined;
  readonly modeWindow?: ModeWindow | undefined;
  /** Stands for an object that is invalid: its mode holds, and it sets nothing and replaces no other policy. */
  readonly isGuard?: true;
}

/** What is asked of a node without heartbeats: the port of its kubelet, and its pods. */
export const probeKinds = ['kubelet', 'pods'] as const;

export type ProbeKind = (typeof probeKinds)[number];

/** Evidence by which a node is silent before its grace period ends. */
export interface DetectionRule {
  /** How old its last heartbeat is then at least. */
  readonly earliestMs: number;
  /** None of these may be answered. */
  readonly probes: readonly ProbeKind[];
}

/** How a node without heartbeats is reported before it is Unknown. */
export interface EarlyWarningRule {
  /** How old its last heartbeat is then. */
  readonly afterMs: number;
  /** The node gets an annotation with the time of its last heartbeat. */
  readonly annotate: boolean;
}

/** A node without a heartbeat for longer than an {@link EarlyWarningRule} waits, which is not Unknown yet. */
export interface OverdueNode {
  readonly policy: string;
  /** Wall time of its last heartbeat, as its kubelet wrote it. */
  readonly sinceMs: number;
}

/**
 * `heartbeat`: the node sent one. `silent`: its grace period is over, as announced. `withdrawn`: it is in planned maintenance, or no
 * rule calls it overdue any more.
 */
export type OverdueEnd = 'heartbeat' | 'silent' | 'withdrawn' | 'gone';

/** Windows in which a policy has other settings. */
export interface PolicySchedule {
  /** When a window begins: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** Name of the IANA database. */
  readonly timeZone: string;
  /** How long a window lasts, whatever the clocks of the time zone show. */
  readonly durationMs: number;
  readonly set: ScheduledSettings;
}

/** What replaces the settings of a policy. */
export interface ScheduledSettings extends EvictionLimits {
  readonly mode?: PolicyMode | undefined;
  readonly limits?: Partial<PolicyLimits> | undefined;
  readonly rates?: Partial<ZoneSettings> | undefined;
}

/** A window that has begun. */
export interface ScheduleWindow {
  readonly cron: string;
  readonly timeZone: string;
  /** Wall time of its end. */
  readonly untilMs: number;
}

/** The window that sets the mode of a policy now. */
export interface ModeWindow {
  /** Place of its schedule in the policy. */
  readonly schedule: number;
  /** Wall time at which the policy may have another mode; Infinity: at none, as it has this mode without windows. */
  readonly untilMs: number;
}

/** Marks of other tools that hold evictions for the health of the node. */
export interface VetoRule {
  /** The tools whose known marks count. */
  readonly of: readonly VetoOwner[];
  /** Keys of further labels and taints that count. */
  readonly labels: readonly string[];
  readonly taints: readonly string[];
  /** For how long they hold, since the node is unhealthy. */
  readonly maxDurationMs: number;
}

/** A mark of another tool that holds evictions for the health of a node. */
export interface Veto {
  readonly kind: 'annotation' | 'label' | 'taint';
  /** Its key. */
  readonly name: string;
  /** The tool; null: not known. */
  readonly owner: string | null;
  readonly policy: string;
  /** Wall time; Infinity: the node is Ready. */
  readonly untilMs: number;
}

/** What mode Detect does to unhealthy nodes and their pods. */
export interface DetectRule {
  /** Pods are marked NotReady. */
  readonly markPods: boolean;
  /** How long a node is unhealthy when it is emptied as in mode Enforce; undefined: it never is. */
  readonly evictAfterMs: number | undefined;
}

/** Pods that ask for it by the label `nodelifecycle/autonomy=true` are not evicted for the health of their node. */
interface PodAutonomyRule {
  /** How long the node is unhealthy when they are evicted as other pods are. */
  readonly evictAfterMs: number;
}

/** A pod that terminates for too long on a node that is not Ready. */
export interface StuckPod {
  readonly policy: string;
  /** Wall time of the end of its grace period. */
  readonly overdueSinceMs: number;
}

/** Why a policy keeps a pod from evictions for the health of its node. */
export interface PodKeeper {
  readonly policy: string;
  readonly why: 'completed' | 'autonomous';
  /** Whose label asks for it; `unknown`: that of its namespace may. Absent: completed. */
  readonly asks?: 'pod' | 'namespace' | 'unknown' | undefined;
  /** Wall time; Infinity: no end, or none yet. */
  readonly untilMs: number;
}

/** Pods of nodes that are not Ready but reachable are evicted by the Eviction API, so that PodDisruptionBudgets hold them. */
interface EvictReachableRule {
  /** How long after its deletion was due a pod that may not be evicted is deleted; undefined: the setting of the controller. */
  readonly timeoutMs: number | undefined;
}

/** Use of the Eviction API for reachable nodes, with the timeout in force. */
export interface ReachableEviction {
  readonly policy: string;
  readonly timeoutMs: number;
}

/** The rate of pod deletions for the health of the nodes of a policy. */
export interface DeletionRate {
  readonly policy: string;
  readonly ratePerSecond: number;
}

/** The nodes of a policy with this have zones of their own. */
export interface PolicyZones {
  /** Keys of labels whose values form a zone together; undefined: region and zone. */
  readonly failureDomain: readonly string[] | undefined;
  /** Keys of labels whose values form an outer zone, which must allow each NoExecute taint too; absent: one level. */
  readonly outerFailureDomain?: readonly string[];
  /** What replaces the settings of the controller in these zones. */
  readonly settings: Partial<ZoneSettings>;
}

/** See the options of the same names. */
export interface ZoneSettings {
  readonly nodeEvictionRate: number;
  readonly secondaryNodeEvictionRate: number;
  readonly fullDisruptionEvictionRate: number | undefined;
  readonly largeClusterSizeThreshold: number;
  readonly unhealthyZoneThreshold: number;
  readonly podMarkingRate: number;
}

/** When a node that recovers often is kept from new pods, and for how long. */
export interface FlappingRule {
  /** Number of recoveries within {@link withinMs} with which a node flaps, until it does not recover for that time. */
  readonly recoveries: number;
  readonly withinMs: number;
  /**
   * Time for which a node is kept from new pods after the recovery with which it flaps; doubled with each further one.
   */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Maximum of nodes of the policy that are kept at once. */
  readonly budget: MaxUnhealthy;
}

/** What proves that a node was fenced, besides the annotation that names its boot. */
export interface OutOfServiceRule {
  /** Types of conditions, while they are True and not older than the last status of the kubelet. */
  readonly conditions: readonly string[];
  /** Keys of taints, of any effect. */
  readonly taints: readonly string[];
}

/** What means that a node is in planned maintenance. */
export interface MaintenanceRule {
  /** Types of conditions, while they are True. */
  readonly conditions: readonly string[];
  /** Keys of taints, of any effect. */
  readonly taints: readonly string[];
  /** Those of the conditions that hold a silent node too, whatever they mean otherwise; absent: none. */
  readonly holdsWhileSilent?: readonly string[];
  /** Time for which each signal counts, from the time in it. */
  readonly maxDurationMs: number;
  /** Time for which all of them together count in one outage of a node; absent: without a limit. */
  readonly maxTotalMs?: number;
}

/** A condition that is True, or a taint, that means planned maintenance. */
export interface MaintenanceSignal {
  readonly kind: 'condition' | 'taint';
  /** Type of the condition, or key of the taint. */
  readonly name: string;
  /** The `lastTransitionTime` or `timeAdded` of the signal, readable or not. */
  readonly at: string | undefined;
}

/**
 * What a signal means for its node: `hold`: it is not emptied for its health. `uncounted`: it is emptied, and is no evidence of a
 * disruption. `none`: nothing, or nothing any more.
 */
export type SignalMeaning = 'hold' | 'uncounted' | 'none';

/** A node that is down, or emptied, on purpose: it is no evidence of a disruption. */
export interface Maintenance {
  readonly policy: string;
  /** Wall time of the end of the last signal; finite. */
  readonly untilMs: number;
  /** The node gets no NoExecute taint for its health, and its pods are not evicted for its health; undefined: no signal means that. */
  readonly hold: MaintenanceHold | undefined;
}

export interface MaintenanceHold {
  /** Signals whose maximum is not over: the hold ends early when none of them holds any more. Never empty. */
  readonly by: readonly MaintenanceSignal[];
  /** Wall time of the last of their ends; finite. */
  readonly untilMs: number;
  /** None of them holds a silent node: the hold ends when its heartbeats do. */
  readonly endsWithSilence: boolean;
}

/**
 * How many nodes of a policy may be unhealthy. Above that its breaker opens: no further node of the policy gets a NoExecute
 * taint, and no further pod is evicted, for the health of its node.
 */
export interface PolicyLimits {
  readonly maxUnhealthy: MaxUnhealthy;
  /** How long the breaker stays open when the number is back at the limit or below. */
  readonly cooldownMs: number;
  /** How nodes are emptied while the breaker is open; absent: none is. */
  readonly overflow?: OverflowRule | undefined;
  /** Wall time: an opening until then is reset, and nodes that were unhealthy then do not count until they recover. */
  readonly resetAtMs: number | undefined;
}

/** How long a breaker stays open if its policy does not say. */
export const cooldownDefaultMs = 300_000;

/** Nodes beyond the limit are emptied one by one. */
export interface OverflowRule {
  readonly ratePerHour: number;
  /** Which of them is the next one; absent: by severity. */
  readonly order?: OverflowOrder | undefined;
}

/** `severity`: silent nodes before others, and of these the one that is unhealthy longest. `age`: the one that is unhealthy longest. */
export const overflowOrders = ['severity', 'age'] as const;

type OverflowOrder = (typeof overflowOrders)[number];

/** A limit of nodes. At least one field is set; of both the greater number is the limit. */
export interface MaxUnhealthy {
  /** Share of the nodes to which the policy applies, from 1 to 100. */
  readonly percent: number | undefined;
  readonly count: number | undefined;
}

/** The grace periods in force for a node. */
export interface GracePeriods {
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
}

/** The policy of a node. `conflict`: several claim it equally, so none of them applies. */
export type PolicySelection =
  | { readonly kind: 'default' }
  | { readonly kind: 'policy'; readonly policy: NodePolicy }
  | { readonly kind: 'conflict'; readonly policies: readonly NodePolicy[] };

/** Kinds of writes for a node and its pods, as far as a mode holds them. */
export type NodeAct =
  | 'mark-unknown'
  | 'add-taints'
  | 'mark-pods-not-ready'
  | 'delete-pods'
  | 'remove-taints'
  | 'set-labels';

/** What holds writes for a node. */
export type HoldSource =
  /** `paused: true` in the config file. */
  | { readonly kind: 'config-file' }
  /** The annotation of the node. `malformed`: its value is neither accepted value, which holds too. */
  | { readonly kind: 'annotation'; readonly malformed: boolean }
  | { readonly kind: 'policy'; readonly policy: string };

/** A hold of writes for one node. */
export interface NodeHold {
  readonly mode: Exclude<PolicyMode, 'Enforce'>;
  readonly source: HoldSource;
  /** Wall time of its end; Infinity: no end. */
  readonly untilMs: number;
  /** It ends because the window of a schedule does. */
  readonly endsWithWindow?: boolean;
  /** Place of the schedule whose window sets this mode. */
  readonly schedule?: number;
  /** Mode Detect without marks of pods. */
  readonly keepsPodsReady?: boolean;
}

/** The maximum of evictions within an hour that a policy has reached. */
export interface HourlyLimit {
  readonly policy: string;
  readonly max: number;
  /** Wall time at which the next one is possible. */
  readonly untilMs: number;
}

/** The nodes of a policy that are being emptied. */
export interface EmptyingStatus {
  readonly policy: string;
  /** How many may be at once. */
  readonly max: number;
  /** Names of the nodes that are being emptied. */
  readonly nodes: readonly string[];
}

/** The nodes of a policy with limits. */
export interface UnhealthyCount {
  /** Number of nodes that the policy claims, also if another one claims them equally. */
  readonly nodes: number;
  /** Number of nodes that are not Ready, or silent. */
  readonly unhealthy: number;
  /** Number of unhealthy nodes that do not count, because of a reset. */
  readonly exempt: number;
}

/** The limits of a policy and the state of its breaker. */
export interface BreakerStatus extends UnhealthyCount {
  readonly policy: string;
  /** More than this opens the breaker. */
  readonly limit: number;
  readonly maxUnhealthy: MaxUnhealthy;
  readonly cooldownMs: number;
  /** Wall time of its last or next reset; absent: none. */
  readonly resetAtMs?: number;
  /** Wall time of its opening; undefined: closed. */
  readonly openedAtMs: number | undefined;
  /** Wall time of its end; Infinity: while too many nodes are unhealthy; undefined: closed. */
  readonly untilMs: number | undefined;
  /** Nodes that are emptied although it is open, and the wall time at which the next one may be; only if it is, and with such a rule. */
  readonly overflow?: { readonly ratePerHour: number; readonly nodes: number; readonly nextAtMs: number };
}

/** How many nodes a policy claims. */
export interface PolicyCount {
  readonly policy: string;
  readonly mode: PolicyMode;
  /** Number of nodes to which it applies. */
  readonly nodes: number;
  /** Number of nodes that it and another policy claim equally. */
  readonly conflicts: number;
  /** Status of the breaker; only with limits, and only of a process that acts on them. */
  readonly breaker?: BreakerStatus;
  /** Number of nodes that are kept from new pods, and its maximum; only with a rule for flapping nodes. */
  readonly flapping?: { readonly kept: number; readonly limit: number };
  /** Nodes that are emptied at once; only with a limit of them. */
  readonly emptying?: EmptyingStatus;
  /** Windows of its schedules that have begun; only with schedules. */
  readonly windows?: readonly string[];
  /** Pods that are stuck, and the longest time since the end of a grace period; only with a time after which they are. */
  readonly stuck?: { readonly pods: number; readonly overdueSeconds: number };
}

/** What a policy does now, in numbers of nodes, and of pods that wait for their eviction. */
export interface PolicyFigures extends PolicyCount {
  /** Number of nodes that are not Ready, or silent. */
  readonly unhealthy: number;
  /** Number of nodes for which a mode, a pause, planned maintenance or the breaker holds something. */
  readonly held: number;
  readonly pendingEvictions: number;
}

/** The source of a hold, for a sentence. */
export function describeHoldSource(source: HoldSource): string {
  switch (source.kind) {
    case 'config-file':
      return 'the config file (paused: true)';
    case 'annotation':
      return source.malformed ? 'a malformed annotation of the node' : 'an annotation of the node';
    case 'policy':
      return `policy ${source.policy}`;
  }
}

/** `condition MaintenanceInProgress` or `taint example.com/maintenance`. */
export function describeSignal({ kind, name }: Pick<MaintenanceSignal, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/** `40 %, at least 3`. */
export function describeMaxUnhealthy({ percent, count }: MaxUnhealthy): string {
  if (percent === undefined) return String(count);
  return count === undefined ? `${percent} %` : `${percent} %, at least ${count}`;
}

/** `3 nodes are emptied beyond the limit, 2 an hour, the next one from 2026-11-27T17:00:00Z`. */
export function describeOverflow({ nodes, ratePerHour, nextAtMs }: NonNullable<BreakerStatus['overflow']>): string {
  return `${nodes} nodes are emptied beyond the limit, ${ratePerHour} an hour, the next one from ${formatTime(nextAtMs)}`;
}

/** `annotation karpenter.sh/do-not-repair (Karpenter)`. */
export function describeVeto({ kind, name, owner }: Pick<Veto, 'kind' | 'name' | 'owner'>): string {
  return `${kind} ${name}${owner === null ? '' : ` (${owner})`}`;
}

/** `0 8 * * 1-5 Europe/Berlin until 2026-11-27T17:00:00Z`. */
export function describeWindow({ cron, timeZone, untilMs }: ScheduleWindow): string {
  return `${cron} ${timeZone} until ${formatTime(untilMs)}`;
}
