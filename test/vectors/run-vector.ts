import { settled } from '../support/manual-clock.ts';
import { RateQueueWorld, TimedWorkWorld } from './data-structure-worlds.ts';
import { EvictionModeWorld } from './eviction-mode-world.ts';
import { describeStrangeness, expectedAfter, expectedAtEnd, type Step, stepsOf, type Vector } from './format.ts';
import { FunctionWorld, TaintHelperWorld } from './function-world.ts';
import { isEvictionMode, NodeLifecycleWorld } from './node-lifecycle-world.ts';
import { podEvictionOperations, podEvictionStageOperations, PodEvictionWorld } from './pod-eviction-world.ts';
import { PodGcWorld } from './pod-gc-world.ts';
import { StageWorld, stageOperations } from './stage-world.ts';
import { TaintEvictionWorld } from './taint-eviction-world.ts';
import { NotSupported, type World } from './world.ts';

/** The failed expectations; empty for a vector that passes. */
export type Failures = readonly string[];

const rateQueueOperations: ReadonlySet<string> = new Set(['add', 'remove', 'clear', 'try', 'swapLimiter', 'assertQPS']);
const timedWorkOperations: ReadonlySet<string> = new Set(['addWork', 'startWork', 'cancelWork', 'unblock']);
const taintHelpers: ReadonlySet<string> = new Set(['addTaints', 'removeTaints']);

/** Runs one vector against the real code. Never throws: any error is a failure of the vector. */
export async function runVector(value: unknown): Promise<Failures> {
  const invalid = describeStrangeness(value);
  if (invalid.length > 0) return invalid;
  const vector = value as Vector;
  let world: World | undefined;
  try {
    world = makeWorld(vector);
    return await play(vector, world);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await world?.stop?.();
  }
}

function makeWorld(vector: Vector): World {
  const steps = stepsOf(vector);
  const world = worldFor(vector, steps);
  const ignored = Object.keys(vector.given).filter((key) => !(world.givens as readonly string[]).includes(key));
  if (ignored.length > 0) throw new NotSupported(`given ${ignored.join(', ')} for ${vector.controller}`);
  return world;
}

function worldFor(vector: Vector, steps: readonly Step[]): World {
  const { controller, mode, given } = vector;
  switch (controller) {
    case 'node-lifecycle':
    case 'node-controller-1.8':
      return isEvictionMode(mode, given.flags ?? {}) ? evictionWorldFor(vector, steps) : taintWorldFor(vector, steps);
    case 'taint-eviction':
      return new TaintEvictionWorld(given);
    case 'pod-gc':
      return new PodGcWorld(given);
    case 'unit':
      return unitWorldFor(given, steps);
    default:
      throw new NotSupported(`controller ${controller}`);
  }
}

function taintWorldFor(vector: Vector, steps: readonly Step[]): World {
  return does(steps, stageOperations, 'only') ? new StageWorld(vector.given) : new NodeLifecycleWorld(vector);
}

function evictionWorldFor(vector: Vector, steps: readonly Step[]): World {
  const { given } = vector;
  const isAboutEviction = given.nodeEvictionStatus !== undefined || does(steps, podEvictionOperations, 'also');
  if (!isAboutEviction && does(steps, stageOperations, 'only')) return new StageWorld(given);
  const isAlone = does(steps, podEvictionStageOperations, 'only');
  return isAlone ? new PodEvictionWorld(given) : new EvictionModeWorld(vector);
}

function does(steps: readonly Step[], operations: ReadonlySet<string>, how: 'only' | 'also'): boolean {
  const isOne = ({ op }: Step): boolean => operations.has(op);
  return how === 'only' ? steps.every(isOne) : steps.some(isOne);
}

function unitWorldFor(given: Vector['given'], steps: readonly Step[]): World {
  if (does(steps, taintHelpers, 'also')) return new TaintHelperWorld(given);
  if (does(steps, timedWorkOperations, 'also')) return new TimedWorkWorld(given);
  return does(steps, rateQueueOperations, 'also') ? new RateQueueWorld(given, steps) : new FunctionWorld(given);
}

async function play(vector: Vector, world: World): Promise<Failures> {
  const failures: string[] = [];
  const atEnd = expectedAtEnd(vector);
  const context = { expectationsHold: () => check(world, atEnd, '').length === 0 };
  const steps = stepsOf(vector);
  failures.push(...stepsOutOfReach(vector, steps.length));
  for (const [place, step] of steps.entries()) {
    const operate = Object.hasOwn(world.operations, step.op) ? world.operations[step.op] : undefined;
    if (operate === undefined) throw new NotSupported(`op ${step.op} for ${vector.controller}`);
    const done = operate(step, context);
    if (done !== undefined) await done;
    for (const expected of expectedAfter(vector, place)) {
      await settled();
      failures.push(...check(world, expected, `after step ${place}: `));
    }
  }
  await settled();
  return [...failures, ...check(world, atEnd, '')];
}

function stepsOutOfReach({ then }: Vector, count: number): Failures {
  const after = (then['after'] ?? []) as readonly { readonly step: number }[];
  return after.filter(({ step }) => !(step >= 0 && step < count)).map(({ step }) => `no step ${step}`);
}

function check(world: World, expected: Readonly<Record<string, unknown>>, where: string): Failures {
  return Object.entries(expected).flatMap(([key, value]) => {
    const found = checkOne(world, key, value);
    return found === undefined ? [] : [`${where}${found}`];
  });
}

function checkOne(world: World, key: string, value: unknown): string | undefined {
  const check = Object.hasOwn(world.checks, key) ? world.checks[key] : undefined;
  if (check === undefined) return `not supported: ${key}`;
  const found = check(value as never);
  return found === undefined ? undefined : `${key}: expected ${JSON.stringify(value)}, found ${found}`;
}
