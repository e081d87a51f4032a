import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSettings } from '../../../../src/policy/schema/file-settings.ts';

const selector = { matchLabels: { pool: 'edge' } };

function problemsOf(...policies: readonly unknown[]): readonly string[] {
  return readFileSettings({ policies }).problems;
}

/** A valid policy with these fields changed; undefined removes one. */
function aPolicyWith(over: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const policy = { name: 'edge', nodeSelector: selector, ...over };
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));
}

function withRequirement(requirement: unknown): Readonly<Record<string, unknown>> {
  return aPolicyWith({ nodeSelector: { matchExpressions: [requirement] } });
}

/** Valid limits with these fields changed. */
function withLimits(over: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return aPolicyWith({ limits: { maxUnhealthy: { percent: 40 }, ...over } });
}

function withMaintenance(over: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return aPolicyWith({ maintenance: { maxDuration: '1h', ...over } });
}

const inMaintenance = 'policies[0].maintenance';
const inLimits = 'policies[0].limits.maxUnhealthy';
const time = 'an RFC 3339 time, such as 2026-11-23T18:00:00Z';
const duration = 'a duration > 0 with a unit, such as 1m30s or 500ms';
const key = 'a label key, such as node.example.com/pool';
const value = 'a label value: at most 63 letters, digits, -, _ and .';
const name = 'a name of lower-case letters, digits, - and ., at most 253';
const fields =
  'name, priority, nodeSelector, mode, detect, podAutonomy, nodeMonitorGracePeriod, nodeStartupGracePeriod, failureDomain, outerFailureDomain, nodeEvictionRate, secondaryNodeEvictionRate, fullDisruptionEvictionRate, largeClusterSizeThreshold, unhealthyZoneThreshold, podMarkingRate, maintenance, vetoes, limits, outOfService, flapping, evictReachable, keepCompletedPods, detection, earlyWarning, markPodsOfNotReadyAfter, terminatingTimeout, schedules';
const at = 'policies[0].nodeSelector.matchExpressions[0]';
const long = 'x'.repeat(64);
const many = Array.from({ length: 21 }, (_, place) => `label-${place}`);

/** A valid schedule with these fields changed. */
function withSchedule(over: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return aPolicyWith({ schedules: [{ cron: '0 8 * * *', duration: '10h', set: { mode: 'Detect' }, ...over }] });
}

const inSchedule = 'policies[0].schedules[0]';
const cron =
  'minute (0 to 59), hour (0 to 23), day of the month, month and day of the week, a time that comes, such as 0 8 * * MON-FRI';

/** The malformed policy, and its only problem. */
const malformed: readonly (readonly [unknown, string])[] = [
  ['edge', 'policies[0]: must be a mapping (got "edge")'],
  [null, 'policies[0]: must be a mapping (got null)'],
  [aPolicyWith({ name: undefined }), `policies[0].name: must be ${name} (missing)`],
  [aPolicyWith({ name: 'Edge Pool' }), `policies[0].name: must be ${name} (got "Edge Pool")`],
  [aPolicyWith({ name: 7 }), `policies[0].name: must be ${name} (got 7)`],
  [aPolicyWith({ priority: 1.5 }), 'policies[0].priority: must be an integer from -2147483648 to 2147483647 (got 1.5)'],
  [
    aPolicyWith({ priority: 'high' }),
    'policies[0].priority: must be an integer from -2147483648 to 2147483647 (got "high")',
  ],
  [
    aPolicyWith({ priority: 2 ** 31 }),
    'policies[0].priority: must be an integer from -2147483648 to 2147483647 (got 2147483648)',
  ],
  [
    aPolicyWith({ mode: 'observe' }),
    'policies[0].mode: must be one of Enforce, Detect, Observe, Paused (got "observe")',
  ],
  [withSchedule({ cron: '0 8 * *' }), `${inSchedule}.cron: must be ${cron} (got "0 8 * *")`],
  [withSchedule({ cron: '0 25 * * *' }), `${inSchedule}.cron: must be ${cron} (got "0 25 * * *")`],
  [withSchedule({ cron: '0 8 30 2 *' }), `${inSchedule}.cron: must be ${cron} (got "0 8 30 2 *")`],
  [withSchedule({ cron: '@daily' }), `${inSchedule}.cron: must be ${cron} (got "@daily")`],
  [
    withSchedule({ timeZone: 'Europe/Atlantis' }),
    `${inSchedule}.timeZone: must be UTC, or a time zone of the IANA database such as Europe/Berlin (got "Europe/Atlantis")`,
  ],
  [
    withSchedule({ timeZone: 'CEST' }),
    `${inSchedule}.timeZone: must be UTC, or a time zone of the IANA database such as Europe/Berlin (got "CEST")`,
  ],
  [withSchedule({ duration: '169h' }), `${inSchedule}.duration: must be at most 168h (got "169h")`],
  [withSchedule({ duration: '0s' }), `${inSchedule}.duration: must be ${duration} (got "0s")`],
  [withSchedule({ set: {} }), `${inSchedule}.set: must be set with a mode, limits or rates (got {})`],
  [withSchedule({ set: { limits: {} } }), `${inSchedule}.set.limits: must be set with at least one limit (got {})`],
  [
    withSchedule({ set: { limits: { maxEvictionsPerHour: 5, cooldown: '1m' } } }),
    `${inSchedule}.set.limits.cooldown: must be absent without maxUnhealthy (got "1m")`,
  ],
  [
    withSchedule({ set: { limits: { maxUnhealthy: {} } } }),
    `${inSchedule}.set.limits.maxUnhealthy: must be percent, count or both (got {})`,
  ],
  [
    withSchedule({ set: { rates: { nodeEvictionRate: 1 } } }),
    `${inSchedule}.set.rates: must be absent unless the policy sets failureDomain or one of these rates (got {"nodeEvictionRate":1})`,
  ],
  [
    withSchedule({ set: { limits: { resetAt: '2026-11-23T18:00:00Z' } } }),
    `${inSchedule}.set.limits.resetAt: unknown field; accepted: maxUnhealthy, cooldown, overflow, podDeletionsPerSecond, maxConcurrentEvictions, maxEvictionsPerHour`,
  ],
  [aPolicyWith({ nodeSelector: undefined }), 'policies[0].nodeSelector: must be a mapping (missing)'],
  [aPolicyWith({ nodeSelector: 'pool=edge' }), 'policies[0].nodeSelector: must be a mapping (got "pool=edge")'],
  [
    aPolicyWith({ nodeSelector: {} }),
    'policies[0].nodeSelector: must be a selector with at least one requirement (got {})',
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: {} } }),
    'policies[0].nodeSelector: must be a selector with at least one requirement (got {"matchLabels":{}})',
  ],
  [
    aPolicyWith({ nodeSelector: { matchNames: ['a'] } }),
    'policies[0].nodeSelector.matchNames: unknown field; accepted: matchLabels, matchExpressions',
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: ['pool'] } }),
    'policies[0].nodeSelector.matchLabels: must be a mapping of label keys to values (got ["pool"])',
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: Object.fromEntries(many.map((name) => [name, 'x'])) } }),
    `policies[0].nodeSelector.matchLabels: must be a mapping of at most 20 label keys to values (got ${JSON.stringify(
      Object.fromEntries(many.map((name) => [name, 'x'])),
    ).slice(0, 60)}…)`,
  ],
  [
    aPolicyWith({ nodeMonitorGracePeriod: `1${'0'.repeat(64)}h` }),
    `policies[0].nodeMonitorGracePeriod: must be a duration of at most 64 characters (got "1${'0'.repeat(58)}…)`,
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: { 'a b': 'c' } } }),
    `policies[0].nodeSelector.matchLabels["a b"]: must be ${key} (got "a b")`,
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: { 'example.com/pool': true } } }),
    `policies[0].nodeSelector.matchLabels["example.com/pool"]: must be ${value} (got true)`,
  ],
  [
    aPolicyWith({ nodeSelector: { matchLabels: { pool: long } } }),
    `policies[0].nodeSelector.matchLabels.pool: must be ${value} (got "${'x'.repeat(59)}…)`,
  ],
  [
    aPolicyWith({ nodeSelector: { matchExpressions: [] } }),
    'policies[0].nodeSelector.matchExpressions: must be a list of 1 to 20 requirements (got [])',
  ],
  [withRequirement({ operator: 'Exists' }), `${at}.key: must be ${key} (missing)`],
  [withRequirement({ key: '-a', operator: 'Exists' }), `${at}.key: must be ${key} (got "-a")`],
  [
    withRequirement({ key: 'a', operator: 'Inn', values: ['b'] }),
    `${at}.operator: must be one of In, NotIn, Exists, DoesNotExist (got "Inn")`,
  ],
  [withRequirement({ key: 'a', operator: 'In' }), `${at}.values: must be set with operator In (missing)`],
  [
    withRequirement({ key: 'a', operator: 'NotIn', values: [] }),
    `${at}.values: must be a list of 1 to 100 label values (got [])`,
  ],
  [
    withRequirement({ key: 'a', operator: 'Exists', values: ['b'] }),
    `${at}.values: must be absent with operator Exists (got ["b"])`,
  ],
  [
    withRequirement({ key: 'a', operator: 'DoesNotExist', values: ['b'] }),
    `${at}.values: must be absent with operator DoesNotExist (got ["b"])`,
  ],
  [
    withRequirement({ key: 'a', operator: 'In', values: 'b' }),
    `${at}.values: must be a list of 1 to 100 label values (got "b")`,
  ],
  [withRequirement({ key: 'a', operator: 'In', values: [5] }), `${at}.values[0]: must be ${value} (got 5)`],
  [
    withRequirement({ key: 'a', operator: 'Exists', value: 'b' }),
    `${at}.value: unknown field; accepted: key, operator, values`,
  ],
  [aPolicyWith({ nodeMonitorGracePeriod: 40 }), `policies[0].nodeMonitorGracePeriod: must be ${duration} (got 40)`],
  [aPolicyWith({ nodeMonitorGracePeriod: '40' }), `policies[0].nodeMonitorGracePeriod: must be ${duration} (got "40")`],
  [
    aPolicyWith({ nodeMonitorGracePeriod: '-1m' }),
    `policies[0].nodeMonitorGracePeriod: must be ${duration} (got "-1m")`,
  ],
  [aPolicyWith({ nodeStartupGracePeriod: '0s' }), `policies[0].nodeStartupGracePeriod: must be ${duration} (got "0s")`],
  [
    aPolicyWith({ nodeStartupGracePeriod: 'soon' }),
    `policies[0].nodeStartupGracePeriod: must be ${duration} (got "soon")`,
  ],
  [
    aPolicyWith({ nodeStartupGracePeriod: '9999999h' }),
    'policies[0].nodeStartupGracePeriod: must be a duration > 0 and below 292 years (got "9999999h")',
  ],
  [aPolicyWith({ maxUnhealthy: '40%' }), `policies[0].maxUnhealthy: unknown field; accepted: ${fields}`],
  [aPolicyWith({ maintenance: true }), `${inMaintenance}: must be a mapping (got true)`],
  [aPolicyWith({ maintenance: {} }), `${inMaintenance}.maxDuration: must be ${duration} (missing)`],
  [withMaintenance({ maxDuration: 60 }), `${inMaintenance}.maxDuration: must be ${duration} (got 60)`],
  [
    withMaintenance({ maxDuration: '9999999h' }),
    `${inMaintenance}.maxDuration: must be a duration > 0 and below 292 years (got "9999999h")`,
  ],
  [
    withMaintenance({ conditions: [] }),
    `${inMaintenance}: must be set with at least one condition or taint (got {"conditions":[],"maxDuration":"1h"})`,
  ],
  [
    withMaintenance({ conditions: 'Drained' }),
    `${inMaintenance}.conditions: must be a list of at most 20 types of conditions (got "Drained")`,
  ],
  [
    withMaintenance({ conditions: ['Ready'] }),
    `${inMaintenance}.conditions[0]: must be none of Ready, MemoryPressure, DiskPressure, PIDPressure (got "Ready")`,
  ],
  [
    withMaintenance({ taints: ['node.kubernetes.io/unreachable'] }),
    `${inMaintenance}.taints[0]: must be none of node.kubernetes.io/unreachable, node.kubernetes.io/not-ready (got "node.kubernetes.io/unreachable")`,
  ],
  [
    withMaintenance({ taints: ['a b'] }),
    `${inMaintenance}.taints[0]: must be the key of a taint, such as example.com/maintenance (got "a b")`,
  ],
  [
    withMaintenance({ annotations: [] }),
    `${inMaintenance}.annotations: unknown field; accepted: conditions, taints, holdsWhileSilent, maxDuration, maxTotal`,
  ],
  [
    withMaintenance({ holdsWhileSilent: ['Drained'] }),
    `${inMaintenance}.holdsWhileSilent: must be some of the conditions (MaintenanceInProgress) (got "Drained")`,
  ],
  [
    withMaintenance({ maxTotal: '9999999h' }),
    `${inMaintenance}.maxTotal: must be a duration > 0 and below 292 years (got "9999999h")`,
  ],
  [aPolicyWith({ limits: '40%' }), 'policies[0].limits: must be a mapping (got "40%")'],
  [withLimits({ maxUnhealthy: '40%' }), `${inLimits}: must be a mapping (got "40%")`],
  [aPolicyWith({ limits: {} }), 'policies[0].limits: must be set with at least one limit (got {})'],
  [
    aPolicyWith({ limits: { maxConcurrentEvictions: 1, cooldown: '1m' } }),
    'policies[0].limits.cooldown: must be absent without maxUnhealthy (got "1m")',
  ],
  [
    aPolicyWith({ limits: { podDeletionsPerSecond: 1, resetAt: '2026-11-23T18:00:00Z' } }),
    'policies[0].limits.resetAt: must be absent without maxUnhealthy (got "2026-11-23T18:00:00Z")',
  ],
  [withLimits({ maxUnhealthy: {} }), `${inLimits}: must be percent, count or both (got {})`],
  [
    withLimits({ maxUnhealthy: { percent: '40%' } }),
    `${inLimits}.percent: must be an integer from 1 to 100 (got "40%")`,
  ],
  [withLimits({ maxUnhealthy: { percent: 0 } }), `${inLimits}.percent: must be an integer from 1 to 100 (got 0)`],
  [withLimits({ maxUnhealthy: { percent: 101 } }), `${inLimits}.percent: must be an integer from 1 to 100 (got 101)`],
  [withLimits({ maxUnhealthy: { percent: 2.5 } }), `${inLimits}.percent: must be an integer from 1 to 100 (got 2.5)`],
  [withLimits({ maxUnhealthy: { count: -1 } }), `${inLimits}.count: must be an integer from 1 to 1000000 (got -1)`],
  [withLimits({ maxUnhealthy: { count: null } }), `${inLimits}.count: must be an integer from 1 to 1000000 (got null)`],
  [withLimits({ maxUnhealthy: { share: 3 } }), `${inLimits}.share: unknown field; accepted: percent, count`],
  [withLimits({ cooldown: 300 }), `policies[0].limits.cooldown: must be ${duration} (got 300)`],
  [withLimits({ cooldown: '0s' }), `policies[0].limits.cooldown: must be ${duration} (got "0s")`],
  [
    withLimits({ cooldown: '9999999h' }),
    'policies[0].limits.cooldown: must be a duration > 0 and below 292 years (got "9999999h")',
  ],
  [withLimits({ resetAt: 'now' }), `policies[0].limits.resetAt: must be ${time} (got "now")`],
  [withLimits({ resetAt: '2026-11-23' }), `policies[0].limits.resetAt: must be ${time} (got "2026-11-23")`],
  [
    withLimits({ resetAt: '2026-13-23T18:00:00Z' }),
    `policies[0].limits.resetAt: must be ${time} (got "2026-13-23T18:00:00Z")`,
  ],
  [
    aPolicyWith({ failureDomain: 'rack' }),
    'policies[0].failureDomain: must be a list of 1 to 5 label keys (got "rack")',
  ],
  [aPolicyWith({ failureDomain: [] }), 'policies[0].failureDomain: must be a list of 1 to 5 label keys (got [])'],
  [aPolicyWith({ failureDomain: ['a b'] }), `policies[0].failureDomain[0]: must be ${key} (got "a b")`],
  [
    aPolicyWith({ failureDomain: ['rack'], outerFailureDomain: 'hall' }),
    'policies[0].outerFailureDomain: must be a list of 1 to 5 label keys (got "hall")',
  ],
  [
    aPolicyWith({ outerFailureDomain: ['hall'] }),
    'policies[0].outerFailureDomain: must be absent without failureDomain (got ["hall"])',
  ],
  [
    aPolicyWith({ failureDomain: ['hall', 'rack'], outerFailureDomain: ['hall'] }),
    'policies[0].outerFailureDomain[0]: must be none of hall, rack (got "hall")',
  ],
  [aPolicyWith({ nodeEvictionRate: '1' }), 'policies[0].nodeEvictionRate: must be a number >= 0 (got "1")'],
  [aPolicyWith({ nodeEvictionRate: -1 }), 'policies[0].nodeEvictionRate: must be a number >= 0 (got -1)'],
  [
    aPolicyWith({ unhealthyZoneThreshold: 1.5 }),
    'policies[0].unhealthyZoneThreshold: must be a number from 0 to 1 (got 1.5)',
  ],
  [
    aPolicyWith({ largeClusterSizeThreshold: 0.5 }),
    'policies[0].largeClusterSizeThreshold: must be an integer from 0 to 1000000 (got 0.5)',
  ],
  [aPolicyWith({ podMarkingRate: 0 }), 'policies[0].podMarkingRate: must be a number from 0.001 to 1000000 (got 0)'],
  [aPolicyWith({ outOfService: true }), 'policies[0].outOfService: must be a mapping (got true)'],
  [
    aPolicyWith({ outOfService: { conditions: ['Ready'] } }),
    'policies[0].outOfService.conditions[0]: must be none of Ready, MemoryPressure, DiskPressure, PIDPressure (got "Ready")',
  ],
  [
    aPolicyWith({ outOfService: { taints: ['node.kubernetes.io/out-of-service'] } }),
    'policies[0].outOfService.taints[0]: must be none of node.kubernetes.io/unreachable, node.kubernetes.io/not-ready, node.kubernetes.io/out-of-service (got "node.kubernetes.io/out-of-service")',
  ],
  [
    aPolicyWith({ outOfService: { after: '10m' } }),
    'policies[0].outOfService.after: unknown field; accepted: conditions, taints',
  ],
  [aPolicyWith({ keepCompletedPods: 'yes' }), 'policies[0].keepCompletedPods: must be true or false (got "yes")'],
  [
    aPolicyWith({ mode: 'Detect', detect: { evictAfter: '3000000h' } }),
    'policies[0].detect.evictAfter: must be a duration > 0 and below 292 years (got "3000000h")',
  ],
  [
    aPolicyWith({ mode: 'Detect', detect: { markPods: 'no' } }),
    'policies[0].detect.markPods: must be true or false (got "no")',
  ],
  [
    aPolicyWith({ mode: 'Detect', detect: { after: '1h' } }),
    'policies[0].detect.after: unknown field; accepted: markPods, evictAfter',
  ],
  [
    aPolicyWith({ vetoes: { of: [], maxDuration: '1h' } }),
    'policies[0].vetoes: must be set with at least one tool, label or taint (got {"of":[],"maxDuration":"1h"})',
  ],
  [
    aPolicyWith({ vetoes: { of: ['kured'], maxDuration: '1h' } }),
    'policies[0].vetoes.of[0]: must be one of karpenter, medik8s, gardener, cluster-api (got "kured")',
  ],
  [
    aPolicyWith({ vetoes: { taints: ['node.kubernetes.io/unreachable'], maxDuration: '1h' } }),
    'policies[0].vetoes.taints[0]: must be none of node.kubernetes.io/unreachable, node.kubernetes.io/not-ready, node.kubernetes.io/out-of-service (got "node.kubernetes.io/unreachable")',
  ],
  [aPolicyWith({ vetoes: {} }), `policies[0].vetoes.maxDuration: must be ${duration} (missing)`],
  [
    aPolicyWith({ nodeMonitorGracePeriod: '20s', earlyWarning: { after: '20s' } }),
    'policies[0].earlyWarning.after: must be less than nodeMonitorGracePeriod (20s) (got "20s")',
  ],
  [
    aPolicyWith({ detection: { earliest: '15s' } }),
    'policies[0].detection: must be absent without limits.maxUnhealthy (got {"earliest":"15s"})',
  ],
  [
    aPolicyWith({
      nodeMonitorGracePeriod: '20s',
      detection: { earliest: '20s' },
      limits: { maxUnhealthy: { count: 1 } },
    }),
    'policies[0].detection.earliest: must be less than nodeMonitorGracePeriod (20s) (got "20s")',
  ],
  [
    aPolicyWith({ detection: { earliest: '9s' }, limits: { maxUnhealthy: { count: 1 } } }),
    'policies[0].detection.earliest: must be at least 10s (got "9s")',
  ],
  [
    aPolicyWith({ detection: { earliest: '15s', probes: ['pods'] }, limits: { maxUnhealthy: { count: 1 } } }),
    'policies[0].detection.probes: must be a list with kubelet (got ["pods"])',
  ],
  [
    aPolicyWith({ detection: { earliest: '15s', probes: ['ping'] }, limits: { maxUnhealthy: { count: 1 } } }),
    'policies[0].detection.probes[0]: must be one of kubelet, pods (got "ping")',
  ],
  [aPolicyWith({ earlyWarning: {} }), `policies[0].earlyWarning.after: must be ${duration} (missing)`],
  [
    aPolicyWith({ earlyWarning: { after: '20s', annotate: 'yes' } }),
    'policies[0].earlyWarning.annotate: must be true or false (got "yes")',
  ],
  [
    aPolicyWith({ markPodsOfNotReadyAfter: '0s' }),
    'policies[0].markPodsOfNotReadyAfter: must be a duration > 0 with a unit, such as 1m30s or 500ms (got "0s")',
  ],
  [
    aPolicyWith({ terminatingTimeout: '3000000h' }),
    'policies[0].terminatingTimeout: must be a duration > 0 and below 292 years (got "3000000h")',
  ],
  [
    aPolicyWith({ limits: { maxUnhealthy: { count: 1 }, overflow: { ratePerHour: 0 } } }),
    'policies[0].limits.overflow.ratePerHour: must be a number from 0.01 to 3600 (got 0)',
  ],
  [
    aPolicyWith({ limits: { maxConcurrentEvictions: 1, overflow: { ratePerHour: 1 } } }),
    'policies[0].limits.overflow: must be absent without maxUnhealthy (got {"ratePerHour":1})',
  ],
  [aPolicyWith({ podAutonomy: {} }), `policies[0].podAutonomy.evictAfter: must be ${duration} (missing)`],
  [
    aPolicyWith({ podAutonomy: { evictAfter: '0s' } }),
    `policies[0].podAutonomy.evictAfter: must be ${duration} (got "0s")`,
  ],
  [aPolicyWith({ evictReachable: true }), 'policies[0].evictReachable: must be a mapping (got true)'],
  [
    aPolicyWith({ evictReachable: { timeout: '0s' } }),
    `policies[0].evictReachable.timeout: must be ${duration} (got "0s")`,
  ],
  [
    aPolicyWith({ evictReachable: { timeout: '3000000h' } }),
    'policies[0].evictReachable.timeout: must be a duration > 0 and below 292 years (got "3000000h")',
  ],
  [aPolicyWith({ evictReachable: { for: '10m' } }), 'policies[0].evictReachable.for: unknown field; accepted: timeout'],
  [
    aPolicyWith({ limits: { podDeletionsPerSecond: 0 } }),
    'policies[0].limits.podDeletionsPerSecond: must be a number from 0.001 to 1000000 (got 0)',
  ],
  [
    aPolicyWith({ limits: { podDeletionsPerSecond: '1' } }),
    'policies[0].limits.podDeletionsPerSecond: must be a number from 0.001 to 1000000 (got "1")',
  ],
  [
    aPolicyWith({ limits: { maxConcurrentEvictions: 0 } }),
    'policies[0].limits.maxConcurrentEvictions: must be an integer from 1 to 1000000 (got 0)',
  ],
  [
    aPolicyWith({ limits: { maxEvictionsPerHour: 10_001 } }),
    'policies[0].limits.maxEvictionsPerHour: must be an integer from 1 to 10000 (got 10001)',
  ],
  [
    aPolicyWith({ limits: { maxConcurrentEvictions: 1.5 } }),
    'policies[0].limits.maxConcurrentEvictions: must be an integer from 1 to 1000000 (got 1.5)',
  ],
  [
    withLimits({ reset: true }),
    'policies[0].limits.reset: unknown field; accepted: maxUnhealthy, cooldown, overflow, podDeletionsPerSecond, maxConcurrentEvictions, maxEvictionsPerHour, resetAt',
  ],
];

for (const [policy, problem] of malformed) {
  test(`a malformed policy is refused with the field and the reason: ${problem.slice(0, 90)}`, () => {
    assert.deepEqual(problemsOf(policy), [problem]);
  });
}

test('all problems are reported together, each with the index of its policy', () => {
  assert.deepEqual(problemsOf(aPolicyWith({}), aPolicyWith({ name: 'b', mode: 'On', priority: 'x' }), 3), [
    'policies[1].priority: must be an integer from -2147483648 to 2147483647 (got "x")',
    'policies[1].mode: must be one of Enforce, Detect, Observe, Paused (got "On")',
    'policies[2]: must be a mapping (got 3)',
  ]);
  const empty = aPolicyWith({ nodeSelector: {} });
  const selector = 'must be a selector with at least one requirement (got {})';
  assert.deepEqual(
    problemsOf(empty, aPolicyWith({ name: 'b', mode: 'enforce' }), { ...empty, name: 7, limits: {} }, 3),
    [
      'policies[1].mode: must be one of Enforce, Detect, Observe, Paused (got "enforce")',
      `policies[2].name: must be ${name} (got 7)`,
      'policies[3]: must be a mapping (got 3)',
      `policies[0].nodeSelector: ${selector}`,
      `policies[2].nodeSelector: ${selector}`,
      'policies[2].limits: must be set with at least one limit (got {})',
    ],
  );
  assert.deepEqual(problemsOf(aPolicyWith({ failureDomain: 'rack', outerFailureDomain: ['room'] })), [
    'policies[0].failureDomain: must be a list of 1 to 5 label keys (got "rack")',
  ]);
});

test('a name may occur once', () => {
  assert.deepEqual(problemsOf(aPolicyWith({}), aPolicyWith({ name: 'b' }), aPolicyWith({})), [
    'policies[2].name: must be unique; policies[0] has it too (got "edge")',
  ]);
});

test('policies are a list of at most 100', () => {
  const many = Array.from({ length: 101 }, (_, index) => aPolicyWith({ name: `p${index}` }));
  assert.match(problemsOf(...many).join(), /^policies: must be a list of at most 100 policies \(got /);
  assert.deepEqual(readFileSettings({ policies: { name: 'edge' } }).problems, [
    'policies: must be a list of at most 100 policies (got {"name":"edge"})',
  ]);
});

test('paused is true or false', () => {
  assert.deepEqual(readFileSettings({ paused: 'yes' }).problems, ['paused: must be true or false (got "yes")']);
  assert.equal(readFileSettings({ paused: true }).settings.paused, true);
});

test('without the settings, and with empty ones, there are no policies and no pause', () => {
  for (const content of [{}, { policies: null, paused: null }, { policies: [], paused: false }])
    assert.deepEqual(readFileSettings(content), { settings: { policies: [], paused: false }, problems: [] });
});

const zoneSettings = {
  nodeEvictionRate: 2,
  secondaryNodeEvictionRate: 0.5,
  fullDisruptionEvictionRate: 0,
  largeClusterSizeThreshold: 10,
  unhealthyZoneThreshold: 0.4,
  podMarkingRate: 5,
};

test('one setting of zones is enough for zones of its own, and replaces that one only', () => {
  const [policy] = readFileSettings({ policies: [aPolicyWith({ nodeEvictionRate: 1 })] }).settings.policies;
  assert.deepEqual(policy?.zones, { failureDomain: undefined, settings: { nodeEvictionRate: 1 } });
});

test('a policy with all fields', () => {
  const policy = {
    name: 'edge.eu',
    priority: -3,
    nodeSelector: {
      matchLabels: { 'example.com/pool': 'edge', empty: '' },
      matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }],
    },
    mode: 'Observe',
    nodeMonitorGracePeriod: '1m30s',
    nodeStartupGracePeriod: '500ms',
    maintenance: {
      conditions: ['Rebooting'],
      taints: ['example.com/m'],
      holdsWhileSilent: ['Rebooting'],
      maxDuration: '2h',
      maxTotal: '3h',
    },
    limits: {
      maxUnhealthy: { percent: 40, count: 3 },
      cooldown: '10m',
      resetAt: '2026-11-23T19:00:00+01:00',
      podDeletionsPerSecond: 0.5,
      maxConcurrentEvictions: 3,
      maxEvictionsPerHour: 20,
    },
    outOfService: { conditions: ['Fenced'], taints: ['example.com/off'] },
    flapping: { recoveries: 3, within: '1h', initial: '2m', max: '30m', budget: { count: 2 } },
    failureDomain: ['example.com/rack'],
    outerFailureDomain: ['example.com/hall'],
    ...zoneSettings,
    evictReachable: { timeout: '15m' },
    keepCompletedPods: true,
    podAutonomy: { evictAfter: '8h' },
    terminatingTimeout: '10m',
    markPodsOfNotReadyAfter: '60s',
    detection: { earliest: '15s', probes: ['kubelet', 'pods'] },
    earlyWarning: { after: '20s', annotate: true },
    vetoes: { of: ['karpenter'], labels: ['example.com/keep'], taints: ['example.com/debug'], maxDuration: '2h' },
    schedules: [
      {
        cron: '0 8 * * MON-FRI',
        timeZone: 'Europe/Berlin',
        duration: '10h',
        set: {
          mode: 'Detect',
          limits: { maxUnhealthy: { count: 5 }, cooldown: '1m', overflow: { ratePerHour: 2 }, maxEvictionsPerHour: 5 },
          rates: { nodeEvictionRate: 0.5 },
        },
      },
    ],
  };
  assert.deepEqual(readFileSettings({ policies: [policy] }).settings.policies, [
    {
      name: 'edge.eu',
      priority: -3,
      selector: [
        { key: 'example.com/pool', operator: 'In', values: ['edge'] },
        { key: 'empty', operator: 'In', values: [''] },
        { key: 'gpu', operator: 'DoesNotExist' },
      ],
      mode: 'Observe',
      detect: undefined,
      podAutonomy: { evictAfterMs: 28_800_000 },
      schedules: [
        {
          cron: '0 8 * * MON-FRI',
          timeZone: 'Europe/Berlin',
          durationMs: 36_000_000,
          set: {
            mode: 'Detect',
            limits: {
              maxUnhealthy: { count: 5, percent: undefined },
              cooldownMs: 60_000,
              overflow: { ratePerHour: 2 },
            },
            maxEvictionsPerHour: 5,
            rates: { nodeEvictionRate: 0.5 },
          },
        },
      ],
      terminatingTimeoutMs: 600_000,
      markPodsOfNotReadyAfterMs: 60_000,
      detection: { earliestMs: 15_000, probes: ['kubelet', 'pods'] },
      earlyWarning: { afterMs: 20_000, annotate: true },
      vetoes: {
        of: ['karpenter'],
        labels: ['example.com/keep'],
        taints: ['example.com/debug'],
        maxDurationMs: 7_200_000,
      },
      nodeMonitorGracePeriodMs: 90_000,
      nodeStartupGracePeriodMs: 500,
      maintenance: {
        conditions: ['Rebooting'],
        taints: ['example.com/m'],
        holdsWhileSilent: ['Rebooting'],
        maxDurationMs: 7_200_000,
        maxTotalMs: 10_800_000,
      },
      limits: {
        maxUnhealthy: { percent: 40, count: 3 },
        cooldownMs: 600_000,
        resetAtMs: Date.parse('2026-11-23T18:00:00Z'),
      },
      outOfService: { conditions: ['Fenced'], taints: ['example.com/off'] },
      zones: {
        failureDomain: ['example.com/rack'],
        outerFailureDomain: ['example.com/hall'],
        settings: zoneSettings,
      },
      flapping: {
        recoveries: 3,
        withinMs: 3_600_000,
        initialMs: 120_000,
        maxMs: 1_800_000,
        budget: { percent: undefined, count: 2 },
      },
      evictReachable: { timeoutMs: 900_000 },
      podDeletionsPerSecond: 0.5,
      maxConcurrentEvictions: 3,
      maxEvictionsPerHour: 20,
      keepCompletedPods: true,
    },
  ]);
});

test('what a policy does not set is undefined or false, its mode is Enforce and its priority 0', () => {
  const [policy] = readFileSettings({ policies: [aPolicyWith({})] }).settings.policies;
  assert.equal(policy?.mode, 'Enforce');
  assert.equal(policy.priority, 0);
  assert.equal(policy.nodeMonitorGracePeriodMs, undefined);
  assert.equal(policy.nodeStartupGracePeriodMs, undefined);
  assert.equal(policy.limits, undefined);
  assert.equal(policy.evictReachable, undefined);
  assert.equal(policy.keepCompletedPods, false);
});

test('mode Detect marks pods and has no end if nothing else is set', () => {
  const detecting = (detect?: object): unknown => {
    const policy = aPolicyWith({ mode: 'Detect', podAutonomy: { evictAfter: '8h' }, ...(detect && { detect }) });
    const [read] = readFileSettings({ policies: [policy] }).settings.policies;
    return { detect: read?.detect, podAutonomy: read?.podAutonomy };
  };
  const podAutonomy = { evictAfterMs: 28_800_000 };
  assert.deepEqual(detecting(), { detect: undefined, podAutonomy });
  assert.deepEqual(detecting({}), { detect: { markPods: true, evictAfterMs: undefined }, podAutonomy });
  const both = { markPods: false, evictAfter: '24h' };
  assert.deepEqual(detecting(both), { detect: { markPods: false, evictAfterMs: 86_400_000 }, podAutonomy });
});

test('the marks of all known tools hold if none is named', () => {
  const [policy] = readFileSettings({ policies: [aPolicyWith({ vetoes: { maxDuration: '1h' } })] }).settings.policies;
  const of = ['karpenter', 'medik8s', 'gardener', 'cluster-api'];
  assert.deepEqual(policy?.vetoes, { of, labels: [], taints: [], maxDurationMs: 3_600_000 });
});

test('maintenance is what its condition says if none is set, twice its maximum in all', () => {
  const [policy] = readFileSettings({ policies: [withMaintenance({})] }).settings.policies;
  assert.deepEqual(policy?.maintenance, {
    conditions: ['MaintenanceInProgress'],
    taints: [],
    holdsWhileSilent: [],
    maxDurationMs: 3_600_000,
    maxTotalMs: 7_200_000,
  });
});

test('a node is fenced if its cloud has shut it down, if nothing else is set', () => {
  const [policy] = readFileSettings({ policies: [aPolicyWith({ outOfService: {} })] }).settings.policies;
  assert.deepEqual(policy?.outOfService, { conditions: [], taints: ['node.cloudprovider.kubernetes.io/shutdown'] });
});

test('the cooldown is 5 minutes if it is not set', () => {
  const [policy] = readFileSettings({ policies: [withLimits({})] }).settings.policies;
  assert.deepEqual(policy?.limits, {
    maxUnhealthy: { percent: 40, count: undefined },
    cooldownMs: 300_000,
    resetAtMs: undefined,
  });
});
