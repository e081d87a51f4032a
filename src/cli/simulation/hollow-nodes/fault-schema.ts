// The schema of faults in a script or in a request. Each problem names the field, the accepted values and the given one.
import * as z from 'zod';
import { type ResourceName, resources } from '../../../machinery/api/resources.ts';
import type { FaultOrder } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import type { Fault, LastingFault, OneShotFault, RequestVerb } from '../../../hollow-cluster/kubelet/faults/fault.ts';
import type { ScriptAction, ScriptStep } from '../../../hollow-cluster/kubelet/faults/fault-script.ts';
import {
  duration,
  durationAccepted,
  numberFrom,
  problemsOf,
  text,
  wholeNumber,
  word,
} from '../../io/document-schema.ts';
import type { Read } from '../../../machinery/yaml/yaml-text.ts';

const stepsMax = 10_000;
/** `0.55` or `55%`. */
const share = z.unknown().transform((given, context) => {
  const percent = typeof given === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(given) : null;
  const value = percent === null ? given : Number(percent[1]) / 100;
  if (typeof value === 'number' && value > 0 && value <= 1) return value;
  context.addIssue({ code: 'custom', message: 'a fraction > 0 and <= 1, or a percentage up to 100%' });
  return z.NEVER;
});

const pattern = text('a pattern, in which * matches any text and ? one character');

const selectorSchema = z.strictObject(
  {
    names: z.array(pattern, { error: 'a list of patterns' }).min(1, { error: 'a list of patterns' }).optional(),
    zone: pattern.optional(),
    labels: z.record(z.string(), pattern, { error: 'an object of labels with patterns for their values' }).optional(),
    share: share.optional(),
    count: wholeNumber(1, 1_000_000).optional(),
  },
  { error: 'an object with names, zone, labels, share or count; {} selects every node' },
);

const verbs: readonly [RequestVerb, ...RequestVerb[]] = ['get', 'list', 'create', 'replace', 'patch', 'delete'];
const resourceNames = Object.keys(resources).filter((name): name is ResourceName => Object.hasOwn(resources, name));
const [firstResource = 'nodes', ...otherResources] = resourceNames;

/** Fields of every fault, in addition to those of its kind. */
const common = {
  id: z
    .string({ error: 'a string of up to 63 letters, digits, -, _ and .' })
    .regex(/^[\w.-]{1,63}$/, { error: 'a string of up to 63 letters, digits, -, _ and .' })
    .optional(),
  nodesPerSecond: numberFrom(0.001, 100_000).optional(),
};

function lasting<const K extends LastingFault['kind'], S extends z.ZodRawShape>(kind: K, shape: S) {
  return z.strictObject({ kind: z.literal(kind), ...shape, ...common, for: duration({ min: 0 }).optional() });
}

function passing<const K extends OneShotFault['kind'], S extends z.ZodRawShape>(kind: K, shape: S) {
  return z.strictObject({ kind: z.literal(kind), ...shape, ...common });
}

const conditionType = text('memory, disk, pid, or a condition type, such as DiskMountPressure').regex(
  /^(memory|disk|pid|[A-Z]\w*)$/,
  { error: 'memory, disk, pid, or a condition type, such as DiskMountPressure' },
);

const actionSchemas = [
  lasting('silence', { heartbeat: word('lease', 'status', 'both').default('both') }),
  lasting('lag', {
    delay: duration({ min: 0 }),
    jitter: duration({ min: 0 }).default(0),
    on: word('request', 'response').default('request'),
  }),
  lasting('flap', {
    up: duration({ min: 1 }),
    down: duration({ min: 1 }),
    phase: word('aligned', 'hash').default('aligned'),
  }),
  lasting('partition', {
    direction: word('all', 'writes', 'watch').default('all'),
    manner: word('silent', 'reset').default('silent'),
  }),
  lasting('errors', {
    code: wholeNumber(400, 599),
    rate: numberFrom(0, 1).default(1),
    verb: word(...verbs).optional(),
    resource: word(firstResource, ...otherResources).optional(),
  }),
  lasting('pressure', { of: conditionType, manner: word('signal', 'forced').default('forced') }).superRefine(
    ({ of, manner }, context) => {
      if (manner === 'forced' || of === 'memory' || of === 'disk') return;
      const message = `forced, because the kubelet has no eviction signal for ${of} by default`;
      context.addIssue({ code: 'custom', path: ['manner'], message });
    },
  ),
  lasting('unhealthy', { reason: text().default('node made unhealthy by fault injection') }),
  lasting('runtime-down', { message: text().default('container runtime failure injected') }),
  lasting('network-not-ready', { message: text().default('network plugin failure injected') }),
  lasting('pleg-hang', {}),
  lasting('slow-termination', {
    stop: z.union([z.literal('never'), z.literal('stuck'), duration({ min: 0 })], {
      error: `never, stuck, or a duration >= 0 ${durationAccepted}`,
    }),
  }),
  lasting('slow-start', { start: duration({ min: 0 }) }),
  lasting('image-pull-failure', { message: text().default('image pull failure injected') }),
  lasting('crash-loop', { exitCode: wholeNumber(0, 255).default(1), after: duration({ min: 0 }).default(1_000) }),
  lasting('clock-skew', { offset: duration().default(0), driftPerHour: duration().default(0) }),
  lasting('capacity', {
    cpu: wholeNumber(1, 4_096).optional(),
    memoryMiB: wholeNumber(1, 67_108_864).optional(),
    maxPods: wholeNumber(0, 100_000).optional(),
  }),
  lasting('ignore-deletes', {}),
  lasting('shutdown', {
    conditions: z.boolean({ error: 'true or false' }).default(false),
    offFor: z
      .union([z.literal('never'), duration({ min: 0 })], { error: `never, or a duration >= 0 ${durationAccepted}` })
      .optional(),
  }),
  passing('crash', {
    of: word('process', 'machine', 'delete-node').default('process'),
    downFor: duration({ min: 0 }).default(20_000),
  }),
  passing('delete-node', {}),
] as const;

const kindText = `one of ${actionSchemas.map((schema) => schema.shape.kind.value).join(', ')}`;
const faultSchema = z.discriminatedUnion('kind', actionSchemas, { error: kindText });
const actionSchema = z.discriminatedUnion(
  'kind',
  [...actionSchemas, z.strictObject({ kind: z.literal('clear'), id: common.id })],
  { error: `${kindText}, clear` },
);
type WrittenFault = z.infer<typeof faultSchema>;

const orderSchema = z.strictObject(
  { selector: selectorSchema, action: faultSchema },
  { error: 'an object with selector and action' },
);
const stepSchema = z
  .strictObject(
    { at: duration({ min: 0 }), selector: selectorSchema.optional(), action: actionSchema },
    { error: 'an object with at, selector and action' },
  )
  .superRefine(({ selector, action }, context) => {
    if (action.kind !== 'clear' && selector === undefined) {
      const message = 'an object with names, zone, labels, share or count; {} selects every node';
      context.addIssue({ code: 'custom', path: ['selector'], message });
    }
  });
const scriptSchema = z
  .array(stepSchema, { error: 'a list of steps, each with at, selector and action' })
  .max(stepsMax, { error: `a list of up to ${stepsMax} steps` });

/** A fault to inject now: `{selector, action}`. */
export function readFaultOrder(given: unknown): Read<FaultOrder> {
  const read = orderSchema.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given) };
  return { value: parseOrder(read.data.action, read.data.selector) };
}

/** A script: a list of `{at, selector, action}`. */
export function readFaultScript(given: unknown): Read<readonly ScriptStep[]> {
  const read = scriptSchema.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given) };
  return { value: read.data.map((step) => ({ atMs: step.at, act: parseAct(step) })) };
}

/** The selector of a query, such as `zone=a&names=node-1*,node-2*&labels=tier=spot`. */
export function readSelector(given: unknown): Read<FaultOrder['selector']> {
  const read = selectorSchema.safeParse(given);
  return read.success ? { value: read.data } : { problems: problemsOf(read.error, given) };
}

function parseAct({ action, selector = {} }: z.infer<typeof stepSchema>): ScriptAction {
  return action.kind === 'clear'
    ? { kind: 'clear', id: action.id }
    : { kind: 'post', order: parseOrder(action, selector) };
}

function parseOrder(action: WrittenFault, selector: FaultOrder['selector']): FaultOrder {
  const { id, nodesPerSecond } = action;
  const forMs = 'for' in action ? action.for : undefined;
  return { id, selector, fault: parseFault(action), forMs, nodesPerSecond };
}

function parseFault(action: WrittenFault): Fault {
  if (action.kind === 'crash') return { kind: action.kind, of: action.of, downMs: action.downFor };
  return action.kind === 'delete-node' ? { kind: action.kind } : parseLasting(action);
}

function parseLasting(action: Exclude<WrittenFault, { readonly kind: OneShotFault['kind'] }>): LastingFault {
  if (action.kind === 'lag') {
    return { kind: action.kind, delayMs: action.delay, jitterMs: action.jitter, on: action.on };
  }
  if (action.kind === 'flap') {
    return { kind: action.kind, upMs: action.up, downMs: action.down, phase: action.phase };
  }
  if (action.kind === 'slow-termination') {
    return { kind: action.kind, stopMs: action.stop };
  }
  if (action.kind === 'shutdown') {
    return { kind: action.kind, conditions: action.conditions, offMs: action.offFor };
  }
  if (action.kind === 'slow-start') {
    return { kind: action.kind, startMs: action.start };
  }
  if (action.kind === 'crash-loop') {
    return { kind: action.kind, exitCode: action.exitCode, afterMs: action.after };
  }
  if (action.kind === 'clock-skew') {
    return { kind: action.kind, offsetMs: action.offset, driftMsPerHour: action.driftPerHour };
  }
  if (action.kind === 'capacity') {
    return { kind: action.kind, cpuCores: action.cpu, memoryMiB: action.memoryMiB, podsMax: action.maxPods };
  }
  const { id: _id, nodesPerSecond: _rate, for: _for, ...fault } = action;
  return fault;
}
