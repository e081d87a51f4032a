// Constraints between settings that are valid one by one, and warnings about risky settings.
import { controllerNames, type ControllerSelection } from '../../controller/model/options.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import type { FileSettings } from '../../policy/schema/file-settings.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { type FlagRule, violations } from '../flags/flag-rule.ts';
import { splitList } from '../flags/split-list.ts';
import { secureServingRules, secureServingWarnings } from '../secure-serving/rules.ts';
import type { controllerFlags } from './flags.ts';

/** The values of the flags, and the settings that only the config file has. */
export type ControllerValues = FlagValues<typeof controllerFlags> & FileSettings;

/** client-go's `leaderelection.JitterFactor`: a retry may take this much longer. */
const retryJitterFactor = 1.2;
/**
 * A kubelet renews its lease every 10 s and retries a hung connection only after its client timeout (10 s): with a shorter
 * grace period, two lost packets can mark a healthy node Unknown.
 */
const gracePeriodWarningMs = 25_000;

/** Shadow mode must not write, and it runs only controllers that can be compared. */
const shadowRules: readonly FlagRule<ControllerValues>[] = [
  {
    keys: ['shadow', 'leaderElect'],
    isViolated: (v) => v.shadow && v.leaderElect,
    text: () => '--leader-elect: must be false or not set with --shadow (got true): leader election writes a lease',
  },
  {
    keys: ['shadow', 'watchCanary'],
    isViolated: (v) => v.shadow && v.watchCanary,
    text: () => '--watch-canary: must be false with --shadow (got true): the canary writes a lease',
  },
  {
    keys: ['shadow', 'featureGates'],
    isViolated: (v) => v.shadow && v.featureGates?.['TaintBasedEvictions'] === 'false',
    text: () =>
      '--feature-gates: must be TaintBasedEvictions=true with --shadow (got false): kube-controller-manager has only ' +
      'taint-based eviction to compare with',
  },
  {
    keys: ['shadow', 'controllers'],
    isViolated: (v) => v.shadow && selectControllers(v.controllers).podGc,
    text: () => '--controllers: must not contain pod-garbage-collector-controller with --shadow: it is not compared',
  },
];

const validationRules: readonly FlagRule<ControllerValues>[] = [
  {
    keys: ['featureGates'],
    isViolated: (v) => wrongGates(v.featureGates).length > 0,
    text: (v) =>
      `--feature-gates: must be TaintBasedEvictions=true or =false (got ${wrongGates(v.featureGates).join(', ')})`,
  },
  {
    keys: ['podEvictionTimeoutMs', 'featureGates'],
    isViolated: (v) => v.podEvictionTimeoutMs !== undefined && taintBasedEvictions(v.featureGates),
    text: (v) =>
      `--pod-eviction-timeout: requires --feature-gates=TaintBasedEvictions=false (got ${show(v.podEvictionTimeoutMs ?? 0)}); ` +
      'with taint-based eviction the delay is the tolerationSeconds of the pod, whose default is set on the API server ' +
      '(--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds; 300)',
  },
  {
    keys: ['controllers'],
    isViolated: (v) => unknownControllers(v.controllers).length > 0,
    text: (v) =>
      `--controllers: must be a comma-separated list of NAME or -NAME (disabled) of ${controllerWords} (got ${unknownControllers(
        v.controllers,
      )
        .map((word) => JSON.stringify(word))
        .join(', ')})`,
  },
  {
    keys: ['nodeMonitorGracePeriodMs', 'nodeMonitorPeriodMs'],
    isViolated: (v) => v.nodeMonitorGracePeriodMs <= v.nodeMonitorPeriodMs,
    text: (v) =>
      `--node-monitor-grace-period: must be > --node-monitor-period ` +
      `(got ${show(v.nodeMonitorGracePeriodMs)} and ${show(v.nodeMonitorPeriodMs)})`,
  },
  {
    keys: ['leaderElectLeaseDurationMs', 'leaderElectRenewDeadlineMs', 'leaderElect'],
    isViolated: (v) => v.leaderElect && v.leaderElectLeaseDurationMs <= v.leaderElectRenewDeadlineMs,
    text: (v) =>
      `--leader-elect-lease-duration: must be > --leader-elect-renew-deadline ` +
      `(got ${show(v.leaderElectLeaseDurationMs)} and ${show(v.leaderElectRenewDeadlineMs)})`,
  },
  {
    keys: ['leaderElectRenewDeadlineMs', 'leaderElectRetryPeriodMs', 'leaderElect'],
    isViolated: (v) => v.leaderElect && v.leaderElectRenewDeadlineMs <= retryJitterFactor * v.leaderElectRetryPeriodMs,
    text: (v) =>
      `--leader-elect-renew-deadline: must be > ${retryJitterFactor} times --leader-elect-retry-period ` +
      `(got ${show(v.leaderElectRenewDeadlineMs)} and ${show(v.leaderElectRetryPeriodMs)})`,
  },
  {
    keys: ['leaderElectLeaseDurationMs', 'leaderElect'],
    isViolated: (v) => v.leaderElect && v.leaderElectLeaseDurationMs % 1_000 !== 0,
    text: (v) =>
      `--leader-elect-lease-duration: must be whole seconds, the unit of leaseDurationSeconds ` +
      `(got ${show(v.leaderElectLeaseDurationMs)})`,
  },
  {
    keys: ['policySource'],
    isViolated: (v) => v.policySource === 'crd' && v.policies.length > 0,
    text: (v) =>
      `policies: must be absent from the config file with --policy-source=crd (got ${v.policies.length}): policies are ` +
      'NodeLifecyclePolicy objects; nlc validate FILE --output=crd prints those of the file',
  },
  ...secureServingRules,
  ...shadowRules,
];

const warningRules: readonly FlagRule<ControllerValues>[] = [
  {
    keys: ['controlPlanePathFailureHoldMs'],
    isViolated: (v) => (v.controlPlanePathFailureHoldMs ?? 0) < 0,
    text: (v) =>
      `--control-plane-path-failure-hold is ${show(v.controlPlanePathFailureHoldMs ?? 0)}: a hold has no limit, and pods ` +
      'of failed nodes stay in the endpoints of their Services until the nodes renew their leases again',
  },
  {
    keys: ['nodeMonitorGracePeriodMs'],
    isViolated: (v) => v.nodeMonitorGracePeriodMs <= gracePeriodWarningMs,
    text: (v) =>
      `--node-monitor-grace-period is ${show(v.nodeMonitorGracePeriodMs)}: kubelets renew their lease every 10s and may ` +
      `need more than ${show(gracePeriodWarningMs)} to recover from one broken connection, so healthy nodes can become ` +
      'Unknown and their pods be evicted; the default is 50s',
  },
  {
    keys: ['secondaryNodeEvictionRate', 'nodeEvictionRate'],
    isViolated: (v) => v.secondaryNodeEvictionRate > v.nodeEvictionRate,
    text: (v) =>
      `--secondary-node-eviction-rate (${v.secondaryNodeEvictionRate}) is above --node-eviction-rate ` +
      `(${v.nodeEvictionRate}): nodes of a disrupted zone would be evicted faster than those of a healthy zone`,
  },
  {
    keys: ['leaderElect', 'shadow'],
    isViolated: (v) => !v.leaderElect && !v.shadow,
    text: () => '--leader-elect is false: with a second replica both would write at the same time',
  },
  {
    keys: ['nodeMonitorGracePeriodMs', 'policies'],
    isViolated: (v) => lateDetection(v) !== undefined,
    text: (v) =>
      `policies[${lateDetection(v)}].detection has no effect: earliest is not less than --node-monitor-grace-period ` +
      `(${show(v.nodeMonitorGracePeriodMs)}), which applies as the policy sets no nodeMonitorGracePeriod`,
  },
  {
    keys: ['nodeMonitorGracePeriodMs', 'policies'],
    isViolated: (v) => lateWarning(v) !== undefined,
    text: (v) =>
      `policies[${lateWarning(v)}].earlyWarning has no effect: after is not less than --node-monitor-grace-period ` +
      `(${show(v.nodeMonitorGracePeriodMs)}), which applies as the policy sets no nodeMonitorGracePeriod`,
  },
  {
    keys: ['terminatedPodGcAgeMs', 'terminatedPodGcPerNode', 'controllers'],
    isViolated: (v) =>
      (v.terminatedPodGcAgeMs !== undefined || v.terminatedPodGcPerNode > 0) && !selectControllers(v.controllers).podGc,
    text: () =>
      '--terminated-pod-gc-age and --terminated-pod-gc-per-node have no effect: --controllers does not enable ' +
      controllerNames.podGc,
  },
  ...secureServingWarnings,
];

type Graces = Pick<ControllerValues, 'policies' | 'nodeMonitorGracePeriodMs'>;

const lateDetection = (values: Graces): number | undefined =>
  findLate(values, ({ detection }) => detection?.earliestMs);
const lateWarning = (values: Graces): number | undefined =>
  findLate(values, ({ earlyWarning }) => earlyWarning?.afterMs);

/** Place of the first policy in which this time is after the grace period that is in force for it. */
function findLate(
  { policies, nodeMonitorGracePeriodMs }: Graces,
  timeOf: (policy: NodePolicy) => number | undefined,
): number | undefined {
  const place = policies.findIndex((policy) => {
    return policy.nodeMonitorGracePeriodMs === undefined && (timeOf(policy) ?? -Infinity) >= nodeMonitorGracePeriodMs;
  });
  return place < 0 ? undefined : place;
}

const gate = 'TaintBasedEvictions';

function wrongGates(gates: ControllerValues['featureGates']): readonly string[] {
  const given = Object.entries(gates ?? {});
  return given
    .filter(([name, value]) => name !== gate || !['true', 'false'].includes(value))
    .map(([name, value]) => `${name}=${value}`);
}

/** True unless the feature gate is false. */
export function taintBasedEvictions(gates: ControllerValues['featureGates']): boolean {
  return gates?.[gate] !== 'false';
}

/** The violated constraints. Those on invalid settings are skipped, because their values are defaults here. */
export function validateControllerValues(values: ControllerValues, refused: ReadonlySet<string>): readonly string[] {
  const policies = refused.has('nodeMonitorPeriodMs') ? [] : shortPolicies(values);
  return [...violations(validationRules, values, refused), ...policies];
}

function shortPolicies({ policies, nodeMonitorPeriodMs }: ControllerValues): readonly string[] {
  return policies.flatMap((policy, index) => {
    const path = `policies[${index}].nodeMonitorGracePeriod (policy ${policy.name})`;
    return validatePolicyGrace(policy, nodeMonitorPeriodMs, path);
  });
}

/**
 * Rule for the grace periods of policies, as for the setting: the freshness of watches is measured for the shortest of
 * all.
 */
export function validatePolicyGrace(
  { nodeMonitorGracePeriodMs: graceMs }: Pick<NodePolicy, 'nodeMonitorGracePeriodMs'>,
  nodeMonitorPeriodMs: number,
  path: string,
): readonly string[] {
  if (graceMs === undefined || graceMs > nodeMonitorPeriodMs) return [];
  return [`${path}: must be > --node-monitor-period (got ${show(graceMs)} and ${show(nodeMonitorPeriodMs)})`];
}

/** Warnings about valid but risky settings. */
export function controllerWarnings(values: ControllerValues): readonly string[] {
  return violations(warningRules, values, new Set());
}

function show(ms: number): string {
  return formatGoDuration(ms);
}

/** Disables leader election in shadow mode unless it was set explicitly, which is an error. */
export function withoutElection<T extends Pick<ControllerValues, 'shadow' | 'leaderElect'>>(
  values: T,
  given: ReadonlyMap<string, unknown>,
): T {
  return values.shadow && !given.has('leaderElect') ? { ...values, leaderElect: false } : values;
}

/** A controller that `--controllers` names. */
interface KnownController {
  readonly key: keyof ControllerSelection;
  readonly names: readonly string[];
  /** Pod garbage collection is off by default, because kube-controller-manager keeps running its own. */
  readonly onByDefault: boolean;
}

const known: readonly KnownController[] = [
  { key: 'nodeLifecycle', names: [controllerNames.nodeLifecycle, 'nodelifecycle'], onByDefault: true },
  { key: 'taintEviction', names: [controllerNames.taintEviction], onByDefault: true },
  { key: 'podGc', names: [controllerNames.podGc, 'podgc'], onByDefault: false },
];

/** The accepted entries, for error messages. */
const controllerWords = ['*', ...known.flatMap(({ names }) => names)].join(', ');

/** The entries of the list that are not a known controller. */
export function unknownControllers(text: string): readonly string[] {
  const names = known.flatMap((entry) => entry.names);
  return splitList(text).filter((word) => word !== '*' && !names.includes(word.replace(/^-/, '')));
}

/**
 * The controllers of `--controllers`, as in kube-controller-manager: NAME enables, -NAME disables, * enables the defaults; of
 * several entries for one controller the first one counts.
 */
export function selectControllers(text: string): ControllerSelection {
  const selected = known.map((entry) => [entry.key, isSelected(entry, splitList(text))]);
  const { nodeLifecycle, taintEviction, podGc } = Object.fromEntries(selected);
  return { nodeLifecycle, taintEviction, podGc };
}

function isSelected({ names, onByDefault }: KnownController, list: readonly string[]): boolean {
  const word = list.find((candidate) => names.includes(candidate.replace(/^-/, '')));
  if (word !== undefined) return !word.startsWith('-');
  return onByDefault && list.includes('*');
}
