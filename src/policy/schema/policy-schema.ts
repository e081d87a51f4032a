// The schema of a policy, for the config file. Plain on purpose: types, patterns, ranges and lengths only, so that an
// OpenAPI schema can be generated from it. What relates several fields is in validate-policies.ts. The message of each
// part says what is accepted; see describe-schema-issue.ts.
import * as z from 'zod';
import { maintenanceConditions } from '../../machinery/api/conditions.ts';
import { goDurationText } from '../../machinery/api/go-duration.ts';
import { overdueAnnotation } from '../../machinery/api/node.ts';
import { policiesMax } from '../../machinery/api/node-lifecycle-policy.ts';
import { autonomyLabel } from '../../machinery/api/pod.ts';
import { fencingTaints } from '../../machinery/api/taints.ts';
import { knownVetoes, vetoOwners } from '../../machinery/api/vetoes.ts';
import { mapOf } from '../../machinery/api/json-map.ts';
import { overflowOrders, policyModes, probeKinds } from '../../controller/model/policy.ts';
import { isCron, isTimeZone } from './schedule-times.ts';

export { policiesMax };

/** Limits that keep a selection cheap, a status readable, and the rules of the custom resource within their cost limit. */
const textCharsMax = 317; // a label key: prefix of 253, slash, name of 63
const durationCharsMax = 64;
const requirementsMax = 20;
const valuesMax = 100;
const nodesMax = 1_000_000;

const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelName = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const labelKey = new RegExp(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${labelName}$`);
const labelValue = new RegExp(`^(${labelName})?$`);

/** Rules about the first field read the second one. */
const neededFields: ReadonlyMap<string, string> = new Map([['outerFailureDomain', 'failureDomain']]);

/** Fields that a later version may add are not accepted: a setting without effect would go unnoticed. */
function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a mapping'),
  });
}

function text(pattern: RegExp, error: string): z.ZodString {
  return z.string({ error }).regex(pattern, { error }).max(textCharsMax, { error });
}

function list<T extends z.ZodType>(item: T, max: number, what: string): z.ZodArray<T> {
  const error = `a list of 1 to ${max} ${what}`;
  return z.array(item, { error }).min(1, { error }).max(max, { error });
}

const keySchema = text(labelKey, 'a label key, such as node.example.com/pool');
const valueSchema = text(labelValue, 'a label value: at most 63 letters, digits, -, _ and .');

/** More than 0, so that no node is silent at once. */
const duration = z
  .string({ error: 'a duration > 0 with a unit, such as 1m30s or 500ms' })
  .regex(goDurationText, { error: 'a duration > 0 with a unit, such as 1m30s or 500ms' })
  .regex(/^[^-]*[1-9]/, { error: 'a duration > 0 with a unit, such as 1m30s or 500ms' })
  .max(durationCharsMax, { error: `a duration of at most ${durationCharsMax} characters` });

function integer(min: number, max: number): z.ZodNumber {
  const error = `an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** Limits that keep the evaluation of a node cheap. */
const signalsMax = 20;
const conditionTypeSchema = text(labelKey, 'the type of a condition, such as MaintenanceInProgress');
const taintKeySchema = text(labelKey, 'the key of a taint, such as example.com/maintenance');

function shortList<T extends z.ZodType>(item: T, what: string): z.ZodArray<T> {
  const error = `a list of at most ${signalsMax} ${what}`;
  return z.array(item, { error }).max(signalsMax, { error });
}

const maintenance = fields({
  conditions: shortList(conditionTypeSchema, 'types of conditions')
    .optional()
    .describe(
      `Any of them that is True means maintenance, those of KEP-5683 each in its own way. If not set: ${maintenanceConditions.join(', ')}`,
    ),
  taints: shortList(taintKeySchema, 'keys of taints')
    .optional()
    .describe('Any of them, with any effect, means maintenance. None if not set'),
  holdsWhileSilent: shortList(conditionTypeSchema, 'types of conditions')
    .optional()
    .describe('Those of the conditions that hold a silent node too, whatever they mean otherwise. None if not set'),
  maxDuration: duration.describe('How long each of them counts, from its lastTransitionTime or timeAdded'),
  maxTotal: duration
    .optional()
    .describe('How long all of them together count in one outage of a node. If not set: twice maxDuration'),
});

const vetoes = fields({
  of: z
    .array(z.enum(vetoOwners, { error: `one of ${vetoOwners.join(', ')}` }), {
      error: `a list of at most ${vetoOwners.length} of ${vetoOwners.join(', ')}`,
    })
    .max(vetoOwners.length, { error: `a list of at most ${vetoOwners.length} of ${vetoOwners.join(', ')}` })
    .optional()
    .describe(`The tools whose marks hold: ${describeKnownVetoes()}. If not set: all of them`),
  labels: shortList(keySchema, 'label keys')
    .optional()
    .describe('Further labels that hold, with any value but false. None if not set'),
  taints: shortList(taintKeySchema, 'keys of taints')
    .optional()
    .describe('Further taints that hold, with any effect. None if not set'),
  maxDuration: duration.describe('How long they hold evictions, since the node is unhealthy'),
});

function describeKnownVetoes(): string {
  return knownVetoes.map(({ of, kind, name }) => `${of} (${kind} ${name})`).join(', ');
}

const outOfService = fields({
  conditions: shortList(conditionTypeSchema, 'types of conditions')
    .optional()
    .describe(
      'Any of them that is True, and became so after the last status of the kubelet, proves that the node was fenced. None if not set',
    ),
  taints: shortList(taintKeySchema, 'keys of taints')
    .optional()
    .describe(`Any of them, with any effect, proves that the node was fenced. If not set: ${fencingTaints.join(', ')}`),
});

const domainKeysMax = 5;
const rate = number(0, Infinity);

function number(min: number, max: number): z.ZodNumber {
  const error = max === Infinity ? `a number >= ${min}` : `a number from ${min} to ${max}`;
  return z
    .number({ error })
    .min(min, { error })
    .max(max === Infinity ? Number.MAX_VALUE : max, { error });
}

const rates = {
  nodeEvictionRate: rate.optional().describe('As the setting of the same name, in the zones of these nodes'),
  secondaryNodeEvictionRate: rate.optional().describe('As the setting of the same name, in the zones of these nodes'),
  fullDisruptionEvictionRate: rate.optional().describe('As the setting of the same name, in the zones of these nodes'),
  largeClusterSizeThreshold: integer(0, nodesMax)
    .optional()
    .describe('As the setting of the same name, in the zones of these nodes'),
  unhealthyZoneThreshold: number(0, 1)
    .optional()
    .describe('As the setting of the same name, in the zones of these nodes'),
  podMarkingRate: number(0.001, 1_000_000)
    .optional()
    .describe('As the setting of the same name, in the zones of these nodes'),
} as const;

/** Each of them gives the nodes of the policy zones of their own. */
const zones = {
  failureDomain: list(keySchema, domainKeysMax, 'label keys')
    .optional()
    .describe('Labels whose values form a zone of these nodes; region and zone if not set'),
  outerFailureDomain: list(keySchema, domainKeysMax, 'label keys')
    .optional()
    .describe('Labels whose values form an outer zone around these zones: a NoExecute taint needs a token of both'),
  ...rates,
} as const;

/** How pods leave these nodes. */
const evictionLimits = {
  evictReachable: fields({
    timeout: duration
      .optional()
      .describe(
        'How long after its deletion was due a pod that may not be evicted is deleted; evictReachableTimeout if not set',
      ),
  })
    .optional()
    .describe(
      'Pods of nodes that are not Ready but reachable are evicted by the Eviction API, so that PodDisruptionBudgets hold them',
    ),
  keepCompletedPods: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe('Pods in phase Succeeded or Failed are not evicted for the health of these nodes; false if not set'),
} as const;

const resetAt = 'an RFC 3339 time, such as 2026-11-23T18:00:00Z';
const rfc3339Text = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

const limitFields = {
  maxUnhealthy: fields({
    percent: integer(1, 100).optional().describe('Percent of the nodes of the policy, rounded down'),
    count: integer(1, nodesMax).optional().describe('Number of nodes'),
  })
    .optional()
    .describe(
      'More unhealthy nodes than the greater of both open the breaker: no further NoExecute taint, no further eviction',
    ),
  cooldown: duration
    .optional()
    .describe('How long the breaker stays open when not too many nodes are unhealthy any more; 5m if not set'),
  overflow: fields({
    ratePerHour: number(0.01, 3_600).describe('Number of nodes'),
    order: z
      .enum(overflowOrders, { error: `one of ${overflowOrders.join(', ')}` })
      .optional()
      .describe(
        'severity: silent nodes first, of these the one that is unhealthy longest; age: the one that is unhealthy longest. severity if not set',
      ),
  })
    .optional()
    .describe('While the breaker is open nodes are emptied one by one at this rate; none if not set'),
  podDeletionsPerSecond: number(0.001, 1_000_000)
    .optional()
    .describe('Rate of deletions and evictions of pods for the health of these nodes; no limit if not set'),
  maxConcurrentEvictions: integer(1, nodesMax)
    .optional()
    .describe('How many of these nodes may be emptied by a NoExecute taint at once; no limit if not set'),
  maxEvictionsPerHour: integer(1, 10_000)
    .optional()
    .describe('How many pods may be evicted for the health of these nodes within any hour; no limit if not set'),
} as const;

const limits = fields({
  ...limitFields,
  resetAt: text(rfc3339Text, resetAt)
    .optional()
    .describe('Closes a breaker that opened until this time; nodes that were unhealthy then count when they recovered'),
});

const recoveriesMax = 100;

const detect = fields({
  markPods: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe('Pods of an unhealthy node are marked NotReady; true if not set'),
  evictAfter: duration
    .optional()
    .describe('How long a node is unhealthy when it is tainted and emptied as in mode Enforce; never if not set'),
});

const earlyWarning = fields({
  after: duration.describe('How old the last heartbeat of a node is then; less than the grace period'),
  annotate: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      `The node gets the annotation ${overdueAnnotation} with the time of its last heartbeat; false if not set`,
    ),
});

const detection = fields({
  earliest: duration.describe(
    'How old the last heartbeat of a node is at least; at least 10s, less than the grace period',
  ),
  probes: list(z.enum(probeKinds, { error: `one of ${probeKinds.join(', ')}` }), probeKinds.length, 'probes')
    .optional()
    .describe(
      'What is asked by TCP, from two nodes: the port of the kubelet, and two of its pods; [kubelet] if not set',
    ),
});

const podAutonomy = fields({
  evictAfter: duration.describe('How long the node is unhealthy when they are evicted as other pods are'),
});

const flapping = fields({
  recoveries: integer(2, recoveriesMax).describe('So many recoveries within the window mean that the node flaps'),
  within: duration.describe('The window; a node that does not recover for this time flaps no longer'),
  initial: duration
    .optional()
    .describe(
      'How long the node is kept after the recovery with which it flaps, doubled with each further one; 5m if not set',
    ),
  max: duration.optional().describe('How long it is kept at most after a recovery; 1h if not set'),
  budget: fields({
    percent: integer(1, 100).optional().describe('Percent of the nodes of the policy, rounded down'),
    count: integer(1, nodesMax).optional().describe('Number of nodes'),
  })
    .optional()
    .describe('The greater of both is how many nodes are kept at once; percent 10 and count 1 if not set'),
});

const modeSchema = z.enum(policyModes, { error: `one of ${policyModes.join(', ')}` });

const schedulesMax = 10;
const cronText = /^\S+( \S+){4}$/;
const cronError =
  'minute (0 to 59), hour (0 to 23), day of the month, month and day of the week, a time that comes, such as 0 8 * * MON-FRI';
/** Abbreviations have several meanings. */
const zoneText = /^(UTC|[A-Z][A-Za-z]+(\/[-+\w]+)+)$/;
const zoneError = 'UTC, or a time zone of the IANA database such as Europe/Berlin';

const schedule = fields({
  cron: text(cronText, cronError)
    .refine(isCron, { error: cronError })
    .describe('When a window begins: minute, hour, day of the month, month and day of the week'),
  timeZone: text(zoneText, zoneError)
    .refine(isTimeZone, { error: zoneError })
    .optional()
    .describe('Name in the IANA database; UTC if not set'),
  duration: duration.describe('How long a window lasts; at most 168h'),
  set: fields({
    mode: modeSchema.optional().describe('As the field of the policy'),
    limits: fields(limitFields).optional().describe('As the fields of limits, each by itself'),
    rates: fields(rates)
      .optional()
      .describe(
        'As the fields of the policy, which must have zones of its own: a failureDomain, or one of these fields',
      ),
  }).describe(
    'What holds instead of the settings of the policy; of several windows the first in the list that sets it',
  ),
});

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

const requirement = fields({
  key: keySchema.describe('Key of the label'),
  operator: z
    .enum(operators, { error: `one of ${operators.join(', ')}` })
    .describe('NotIn and DoesNotExist also match nodes without the label'),
  values: list(valueSchema, valuesMax, 'label values').optional().describe('With In and NotIn only'),
});

const labels = z
  .record(keySchema, valueSchema, {
    error: ({ code }) =>
      code === 'invalid_key' ? 'a label key, such as node.example.com/pool' : 'a mapping of label keys to values',
  })
  .refine((map) => Object.keys(map).length <= requirementsMax, {
    error: `a mapping of at most ${requirementsMax} label keys to values`,
  })
  .meta({ maxProperties: requirementsMax });

/** What a policy sets, without its name. */
const policySpecShape = {
  priority: z
    .int32({ error: 'an integer from -2147483648 to 2147483647' })
    .optional()
    .describe('The policy of the highest priority that selects a node applies to it; 0 if not set'),
  nodeSelector: fields({
    matchLabels: labels.optional().describe('Labels that a node must have'),
    matchExpressions: list(requirement, requirementsMax, 'requirements')
      .optional()
      .describe('Requirements, all of which a node must meet'),
  }).describe('The nodes of the policy; of equal priorities the selector with more requirements applies'),
  mode: modeSchema
    .optional()
    .describe(
      'Enforce acts; Detect marks and evicts nothing; Observe reports and writes nothing for these nodes; Paused only reverts. Enforce if not set',
    ),
  detect: detect.optional().describe('What mode Detect does to an unhealthy node and its pods'),
  podAutonomy: podAutonomy
    .optional()
    .describe(
      `Pods with the label ${autonomyLabel}=true, and with --namespace-autonomy those of namespaces with it, are not evicted for the health of these nodes`,
    ),
  nodeMonitorGracePeriod: duration.optional().describe('As the setting of the same name, for these nodes'),
  nodeStartupGracePeriod: duration.optional().describe('As the setting of the same name, for these nodes'),
  ...zones,
  maintenance: maintenance
    .optional()
    .describe(
      'What means planned maintenance: meanwhile these nodes get no NoExecute taint for their health, keep their pods, and do not count as disrupted',
    ),
  vetoes: vetoes
    .optional()
    .describe('Marks of other tools that hold NoExecute taints and evictions for the health of these nodes'),
  limits: limits
    .optional()
    .describe(
      'How many of these nodes may be unhealthy while others are tainted and evicted, how many may be emptied at once, and how fast',
    ),
  outOfService: outOfService
    .optional()
    .describe(
      'Adds the taint out-of-service to an unreachable node with the label nodelifecycle/out-of-service=allowed, if it is proven that it was fenced',
    ),
  flapping: flapping
    .optional()
    .describe(
      'Keeps a node that recovers often from new pods for a growing time, by the taint nodelifecycle/flapping:NoSchedule',
    ),
  ...evictionLimits,
  detection: detection
    .optional()
    .describe(
      'Other evidence by which a node without heartbeats is Unknown before its grace period ends; needs limits.maxUnhealthy; none if not set',
    ),
  earlyWarning: earlyWarning
    .optional()
    .describe(
      'An Event, a metric and on request an annotation for a node that sends no heartbeats, before it is Unknown; none if not set',
    ),
  markPodsOfNotReadyAfter: duration
    .optional()
    .describe(
      'How long a node reports Ready=False when its pods are marked NotReady as those of a silent one, once; never if not set',
    ),
  terminatingTimeout: duration
    .optional()
    .describe(
      'How long after its grace period a terminating pod of a node that is not Ready is reported as stuck; never if not set',
    ),
  schedules: list(schedule, schedulesMax, 'schedules')
    .optional()
    .describe('Windows of time in which this policy has another mode, other limits or other rates'),
} as const;

/** The spec of a NodeLifecyclePolicy. */
export const policySpecSchema = fields(policySpecShape);

export const policyNameSchema = text(dnsSubdomain, 'a name of lower-case letters, digits, - and ., at most 253');

export const policySchema = fields({
  name: policyNameSchema.describe('Unique name of the policy'),
  ...policySpecShape,
});

/** A policy as in the file, valid by itself. */
export type PolicyInput = Readonly<z.input<typeof policySchema>>;

/**
 * A policy without its faulty fields; in place of a required one a value that breaks no rule. The rules between fields
 * can then check the others, so that all problems are reported at once.
 */
export function selectSoundFields(
  policy: unknown,
  faulty: ReadonlySet<PropertyKey | undefined>,
  index: number,
): PolicyInput {
  const isSound = (field: string): boolean => Object.hasOwn(policySchema.shape, field) && !faulty.has(field);
  const sound = Object.entries(mapOf(policy)).filter(
    ([field]) => isSound(field) && isSound(neededFields.get(field) ?? field),
  );
  const neutral = { name: `malformed-policy-${index}`, nodeSelector: { matchLabels: { malformed: '' } } };
  const parsed = policySchema.safeParse({ ...neutral, ...Object.fromEntries(sound) });
  return parsed.success ? parsed.data : neutral;
}
