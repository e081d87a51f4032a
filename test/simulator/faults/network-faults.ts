import { ApiError, reasonFor } from '../../../src/machinery/api/api-error.ts';
import type { Status } from '../../../src/machinery/api/meta.ts';
import { resources } from '../../../src/machinery/api/resources.ts';
import { planPhase } from '../../../src/hollow-cluster/kubelet/loops/plan-phase.ts';
import { isWrite, type Network, type NetworkRule, type RequestLine } from '../../../src/simulator/network/network.ts';
import type { Direction, NetworkFault } from './world-fault.ts';

type Leg = NetworkRule['leg'];
type Effect = NetworkRule['effect'];
type Matches = NetworkRule['matches'];

const legsOf: Readonly<Record<Direction, readonly Leg[]>> = {
  both: ['request', 'response', 'frames'],
  requests: ['request'],
  responses: ['response', 'frames'],
  frames: ['frames'],
};

/** Delay of late answers, below the time limit of a read or write. */
export const lateAnswerMs = 4_000;

/** Adds the rules of a fault; returns the function that removes them. */
export function addNetworkFault(network: Network, fault: NetworkFault): () => void {
  const removals = rulesOf(fault).map((rule) => network.add(rule));
  return () => {
    for (const remove of removals) remove();
  };
}

function rulesOf(fault: NetworkFault): readonly NetworkRule[] {
  switch (fault.kind) {
    case 'partition':
      return onLegs(legsOf[fault.direction], { kind: fault.manner }, byProcess(fault.process));
    case 'slow-network':
      return onLegs(legsOf[fault.direction], { kind: 'delay', msMin: 0, msMax: fault.msMax }, byProcess(fault.process));
    case 'duplicate-frames':
      return onLegs(['frames'], { kind: 'duplicate' }, isReplica, fault.rate);
    case 'undecodable-objects': {
      const names = (name: string): boolean => isChosen(name, fault.share);
      const matches: Matches = (line) => isReplica(line) && line.resource === fault.resource;
      return onLegs(['frames'], { kind: 'undecodable', names }, matches);
    }
    case 'error-answers':
      return onLegs(
        ['request'],
        { kind: 'answer', error: (line) => errorAnswer(fault, line) },
        answers(fault),
        fault.rate,
      );
    case 'hang':
      return onLegs(
        ['request'],
        { kind: 'lose' },
        (line) => isReplica(line) && line.verb === fault.verb && line.resource === fault.resource,
      );
    case 'ambiguous-writes':
      return onLegs(['response'], { kind: fault.manner }, (line) => isReplica(line) && isWrite(line), fault.rate);
    case 'stuck-object':
      return stuckRules(fault);
    case 'stalled-watch':
      return onLegs(
        ['frames'],
        { kind: 'lose' },
        (line) => isReplica(line) && line.resource === fault.resource,
        fault.rate,
      );
  }
}

function stuckRules(fault: Extract<NetworkFault, { kind: 'stuck-object' }>): readonly NetworkRule[] {
  const leg = fault.answer === 'late' ? 'response' : 'request';
  return onLegs([leg], stuckEffect(fault), (line) => isReplica(line) && isStuck(fault, line));
}

function isStuck({ name, verbs, part }: Extract<NetworkFault, { kind: 'stuck-object' }>, line: RequestLine): boolean {
  const isPart = part === 'any' || (line.subresource ?? 'spec') === part;
  return isPart && line.name === name && verbs.includes(line.verb);
}

function stuckEffect({ answer }: Extract<NetworkFault, { kind: 'stuck-object' }>): Effect {
  if (answer === 'none') return { kind: 'lose' };
  if (answer === 'late') return { kind: 'delay', msMin: lateAnswerMs, msMax: lateAnswerMs };
  const refusal = { code: answer, from: 'proxy', retryAfterMs: answer === 429 ? 60_000 : undefined } as const;
  return { kind: 'answer', error: (line) => errorAnswer(refusal, line) };
}

function onLegs(legs: readonly Leg[], effect: Effect, matches: Matches, rate = 1): readonly NetworkRule[] {
  return legs.map((leg) => ({ leg, effect, matches, rate }));
}

/** True for this share of names, the same ones each time. */
export function isChosen(name: string, share: number): boolean {
  return planPhase(name) < share;
}

function byProcess(process: string): Matches {
  return ({ by }) => by.process === process;
}

function isReplica({ by }: RequestLine): boolean {
  return by.process.startsWith('replica-');
}

function answers({ verb, resource }: Extract<NetworkFault, { kind: 'error-answers' }>): Matches {
  return (line) =>
    isReplica(line) && (verb === 'any' || line.verb === verb) && (resource === 'any' || line.resource === resource);
}

function errorAnswer(
  fault: Pick<Extract<NetworkFault, { kind: 'error-answers' }>, 'code' | 'from' | 'retryAfterMs'>,
  { resource, name }: RequestLine,
): ApiError {
  const { code, from, retryAfterMs } = fault;
  const named: Status = {
    kind: 'Status',
    code,
    message: `injected ${code}`,
    details: { name, kind: resources[resource].plural },
  };
  const status = from === 'server' && code !== 404 && code !== 409 ? named : undefined;
  return new ApiError({
    reason: reasonFor(code, status),
    code,
    status,
    retryAfterMs,
    message: `injected ${code} by a ${from}`,
  });
}
