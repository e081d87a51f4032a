// The schema of a scenario file.
import * as z from 'zod';
import type { PodGroup, Scenario, ScenarioStep } from '../../simulator/scenario/scenario.ts';
import { readFaultScript } from '../simulation/hollow-nodes/fault-schema.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { duration, problemsOf, text, wholeNumber, word } from '../io/document-schema.ts';
import type { Read } from '../../machinery/yaml/yaml-text.ts';

const scenarioApiVersion = 'nodelifecycle/v1alpha1';
const scenarioKind = 'SimulationScenario';

const nodesMax = 20_000;
const minuteMs = 60_000;
const timeError = 'an RFC 3339 time, such as 2026-11-27T08:00:00Z';

const nodeName = text().regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, { error: 'lower-case letters, digits and -' });
const nodeGroup = z
  .strictObject(
    {
      prefix: nodeName.optional(),
      count: wholeNumber(1, nodesMax).optional(),
      names: z.array(nodeName, { error: 'a list of names' }).min(1, { error: 'a list of names' }).optional(),
      zone: text().default(''),
      labels: z.record(z.string(), z.string(), { error: 'an object of labels' }).default({}),
    },
    { error: 'an object with names or prefix and count' },
  )
  .superRefine(({ prefix, count, names }, context) => {
    if ((names === undefined) === (prefix !== undefined && count !== undefined)) return;
    context.addIssue({ code: 'custom', message: 'an object with either names or prefix and count' });
  });

const podGroup = z.strictObject(
  {
    perNode: wholeNumber(0, 1_000),
    tolerates: z.union([z.literal('forever'), z.literal('none'), duration({ min: 0 })], {
      error: 'forever, none, or a duration >= 0, such as 5m',
    }),
    grace: duration({ min: 0 }).default(30_000),
  },
  { error: 'an object with perNode and tolerates' },
);

const at = duration({ min: 0 });
const forMs = duration({ min: 0 });
/** Steps that do not concern nodes. */
const worldSteps = [
  z.strictObject({
    at,
    apiServers: z.strictObject({
      down: z.union([z.literal('all'), wholeNumber(1, 9)], { error: 'all, or an integer >= 1' }),
      for: forMs,
    }),
  }),
  z.strictObject({ at, apiServerRollout: z.strictObject({ downFor: forMs, gap: forMs }) }),
  z.strictObject({ at, slowNetwork: z.strictObject({ delay: forMs, for: forMs }) }),
  z.strictObject({ at, leader: z.strictObject({ action: word('pause', 'kill'), for: forMs }) }),
] as const;
const worldStep = z.union(worldSteps, {
  error: 'an object with at and one of apiServers, apiServerRollout, slowNetwork, leader, or selector and action',
});

const scenarioSchema = z.strictObject(
  {
    apiVersion: z.literal(scenarioApiVersion, { error: scenarioApiVersion }),
    kind: z.literal(scenarioKind, { error: scenarioKind }),
    name: text(),
    description: z.string().default(''),
    startsAt: z
      .string({ error: timeError })
      .refine((value) => parseTimestamp(value) !== undefined, { error: timeError })
      .optional(),
    duration: duration({ min: minuteMs }),
    seed: wholeNumber(0, 2 ** 31).default(1),
    cluster: z.strictObject(
      {
        nodes: z.array(nodeGroup, { error: 'a list of node groups' }).min(1, { error: 'a list of node groups' }),
        pods: z.array(podGroup, { error: 'a list of pod groups' }).default([]),
        apiServers: wholeNumber(1, 9).default(3),
        replicas: wholeNumber(1, 9).default(2),
        leaseDuration: duration({ min: 1_000 }).default(40_000),
      },
      { error: 'an object with nodes' },
    ),
    flags: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]), { error: 'an object of flags' })
      .default({}),
    steps: z.array(z.unknown(), { error: 'a list of steps' }).default([]),
  },
  { error: `an object with apiVersion: ${scenarioApiVersion} and kind: ${scenarioKind}` },
);

/** A scenario, and the settings of the controller in it. */
export interface ReadScenario {
  readonly scenario: Scenario;
  /** Flags in the form `--flag=value`. */
  readonly flags: readonly string[];
}

/** Collects all problems; each names the field, the accepted values and the given one. */
export function readScenario(given: unknown): Read<ReadScenario> {
  const read = scenarioSchema.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given) };
  const { data } = read;
  const steps = data.steps.map((step, index) => readStep(step, `steps[${index}]`));
  const problems = steps.flatMap((step) => ('problems' in step ? step.problems : []));
  if (problems.length > 0) return { problems };
  const { name, description, seed, cluster } = data;
  const nodes = cluster.nodes.map(({ prefix, count, names, zone, labels }) => ({
    names: names ?? Array.from({ length: count ?? 0 }, (_, index) => `${prefix}-${index + 1}`),
    zone,
    labels,
  }));
  return {
    value: {
      scenario: {
        name,
        description,
        seed,
        startsAtMs: parseTimestamp(data.startsAt),
        durationMs: data.duration,
        nodes,
        pods: nodes.flatMap(({ names }) => names).flatMap((node) => podsOf(node, cluster.pods)),
        servers: cluster.apiServers,
        replicas: cluster.replicas,
        leaseDurationSeconds: Math.round(cluster.leaseDuration / 1_000),
        steps: steps.flatMap((step) => ('value' in step ? [step.value] : [])),
      },
      flags: Object.entries(data.flags).map(([flag, value]) => `--${flag}=${value}`),
    },
  };
}

function podsOf(node: string, groups: readonly z.infer<typeof podGroup>[]): readonly PodGroup[] {
  return groups.map(({ perNode: count, tolerates, grace }) => ({
    node,
    count,
    tolerates: typeof tolerates === 'number' ? tolerates / 1_000 : tolerates,
    graceSeconds: grace / 1_000,
  }));
}

function readStep(given: unknown, where: string): Read<ScenarioStep> {
  if (typeof given === 'object' && given !== null && 'action' in given) return readNodeStep(given, where);
  const read = worldStep.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given).map((problem) => `${where}: ${problem}`) };
  const step = read.data;
  if ('apiServers' in step) {
    return { value: { atMs: step.at, kind: 'servers-down', count: step.apiServers.down, forMs: step.apiServers.for } };
  }
  if ('apiServerRollout' in step) {
    const { downFor, gap } = step.apiServerRollout;
    return { value: { atMs: step.at, kind: 'servers-rollout', downMs: downFor, gapMs: gap } };
  }
  if ('slowNetwork' in step) {
    return {
      value: { atMs: step.at, kind: 'slow-network', msMax: step.slowNetwork.delay, forMs: step.slowNetwork.for },
    };
  }
  return { value: { atMs: step.at, kind: 'leader', what: step.leader.action, forMs: step.leader.for } };
}

/** Step of a node, as in a script of `nlc hollow-nodes`. */
function readNodeStep(given: object, where: string): Read<ScenarioStep> {
  const read = readFaultScript([given]);
  if ('problems' in read) return { problems: read.problems.map((problem) => problem.replace(/^\[0\]/, where)) };
  const [step] = read.value;
  if (step?.act.kind !== 'post') return { problems: [`${where}.action.kind: must be a fault (got "clear")`] };
  return { value: { atMs: step.atMs, kind: 'nodes', order: step.act.order } };
}
