// What must hold, or had better hold, between settings that are fine one by one.
import type { controllerFlags } from './controller-flags.ts';
import { controllerWords, unknownControllers } from './controller-selection.ts';
import type { FlagValues } from './flag-definition.ts';
import { formatGoDuration } from '../api/go-duration.ts';
import { shadowRules } from './shadow-rules.ts';
import { secureServingOddities, secureServingRules } from './secure-serving/secure-serving-config.ts';

export type ControllerValues = FlagValues<typeof controllerFlags>;

interface Rule {
  /** Judged only when none of these was refused by itself. */
  readonly keys: readonly (keyof ControllerValues)[];
  broken(values: ControllerValues): boolean;
  text(values: ControllerValues): string;
}

/** client-go's `leaderelection.JitterFactor`: a retry may take this much longer. */
const retryJitterFactor = 1.2;
/**
 * A kubelet renews its lease every 10 s and retries a hung connection only after its client timed out (10 s): with less
 * than this, two lost packets look like a dead node.
 */
const gracePeriodDaringMs = 25_000;

const needed: readonly Rule[] = [
  {
    keys: ['featureGates'],
    broken: (v) => wrongGates(v.featureGates).length > 0,
    text: (v) =>
      `--feature-gates: got ${wrongGates(v.featureGates).join(', ')}; accepted: TaintBasedEvictions=true or =false`,
  },
  {
    keys: ['podEvictionTimeout', 'featureGates'],
    broken: (v) => v.podEvictionTimeout !== undefined && taintBasedEvictions(v.featureGates),
    text: (v) =>
      `--pod-eviction-timeout: got ${show(v.podEvictionTimeout ?? 0)}; accepted: only with ` +
      '--feature-gates=TaintBasedEvictions=false; otherwise how long a pod may stay is its tolerationSeconds, 300 unless ' +
      'the API server is told otherwise (--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds)',
  },
  {
    keys: ['controllers'],
    broken: (v) => unknownControllers(v.controllers).length > 0,
    text: (v) =>
      `--controllers: got ${unknownControllers(v.controllers)
        .map((word) => JSON.stringify(word))
        .join(', ')}; accepted, with a - in front to switch off: ${controllerWords}`,
  },
  {
    keys: ['nodeMonitorGracePeriod', 'nodeMonitorPeriod'],
    broken: (v) => v.nodeMonitorGracePeriod <= v.nodeMonitorPeriod,
    text: (v) =>
      `--node-monitor-grace-period: got ${show(v.nodeMonitorGracePeriod)}; accepted: more than ` +
      `--node-monitor-period, which is ${show(v.nodeMonitorPeriod)}`,
  },
  {
    keys: ['leaderElectLeaseDuration', 'leaderElectRenewDeadline', 'leaderElect'],
    broken: (v) => v.leaderElect && v.leaderElectLeaseDuration <= v.leaderElectRenewDeadline,
    text: (v) =>
      `--leader-elect-lease-duration: got ${show(v.leaderElectLeaseDuration)}; accepted: more than ` +
      `--leader-elect-renew-deadline, which is ${show(v.leaderElectRenewDeadline)}`,
  },
  {
    keys: ['leaderElectRenewDeadline', 'leaderElectRetryPeriod', 'leaderElect'],
    broken: (v) => v.leaderElect && v.leaderElectRenewDeadline <= retryJitterFactor * v.leaderElectRetryPeriod,
    text: (v) =>
      `--leader-elect-renew-deadline: got ${show(v.leaderElectRenewDeadline)}; accepted: more than ` +
      `${retryJitterFactor} times --leader-elect-retry-period, which is ${show(v.leaderElectRetryPeriod)}`,
  },
  {
    keys: ['leaderElectLeaseDuration', 'leaderElect'],
    broken: (v) => v.leaderElect && v.leaderElectLeaseDuration % 1_000 !== 0,
    text: (v) =>
      `--leader-elect-lease-duration: got ${show(v.leaderElectLeaseDuration)}; accepted: whole seconds, ` +
      'because a lease can say nothing finer',
  },
  ...secureServingRules,
  ...shadowRules,
];

const odd: readonly Rule[] = [
  {
    keys: ['nodeMonitorGracePeriod'],
    broken: (v) => v.nodeMonitorGracePeriod <= gracePeriodDaringMs,
    text: (v) =>
      `--node-monitor-grace-period is ${show(v.nodeMonitorGracePeriod)}. Kubelets give a sign of life every 10s and may ` +
      `need more than ${show(gracePeriodDaringMs)} to get over one broken connection: healthy nodes can be taken for ` +
      'dead and their pods evicted. 50s is the default for that reason',
  },
  {
    keys: ['secondaryNodeEvictionRate', 'nodeEvictionRate'],
    broken: (v) => v.secondaryNodeEvictionRate > v.nodeEvictionRate,
    text: (v) =>
      `--secondary-node-eviction-rate (${v.secondaryNodeEvictionRate}) is above --node-eviction-rate ` +
      `(${v.nodeEvictionRate}): a disrupted zone would be emptied faster than a healthy one`,
  },
  {
    keys: ['leaderElect', 'shadow'],
    broken: (v) => !v.leaderElect && !v.shadow,
    text: () =>
      '--leader-elect is off: a second copy of this process would write at the same time, unnoticed by either',
  },
  {
    keys: ['kubeApiBurst', 'kubeApiQps'],
    broken: (v) => v.kubeApiBurst < v.kubeApiQps,
    text: (v) =>
      `--kube-api-burst (${v.kubeApiBurst}) is below --kube-api-qps (${v.kubeApiQps}): the rate is only reached by ` +
      'requests that come evenly',
  },
  ...secureServingOddities,
];

const gate = 'TaintBasedEvictions';

function wrongGates(gates: ControllerValues['featureGates']): readonly string[] {
  const given = Object.entries(gates ?? {});
  return given
    .filter(([name, value]) => name !== gate || !['true', 'false'].includes(value))
    .map(([name, value]) => `${name}=${value}`);
}

/** The mode: true unless the gate says false. */
export function taintBasedEvictions(gates: ControllerValues['featureGates']): boolean {
  return gates?.[gate] !== 'false';
}

/** What forbids a start. Rules about refused settings are left out: their values are not the user's. */
export function brokenRules(values: ControllerValues, refused: ReadonlySet<string>): readonly string[] {
  return texts(needed, values, refused);
}

/** What allows a start but deserves to be said loudly. */
export function oddities(values: ControllerValues): readonly string[] {
  return texts(odd, values, new Set());
}

function texts(rules: readonly Rule[], values: ControllerValues, refused: ReadonlySet<string>): readonly string[] {
  const judged = rules.filter((rule) => !rule.keys.some((key) => refused.has(key)));
  return judged.filter((rule) => rule.broken(values)).map((rule) => rule.text(values));
}

function show(ms: number): string {
  return formatGoDuration(ms);
}
