import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FailureWindow } from '../../../../../src/hollow-cluster/kubelet/runtime/build-container-script.ts';
import { planProbes } from '../../../../../src/hollow-cluster/kubelet/runtime/prober.ts';
import type { Container } from '../../../../../src/machinery/api/pod.ts';

type Fails = Partial<Record<'startupFails' | 'readinessFails' | 'livenessFails', FailureWindow>>;
const never = { startupFails: undefined, readinessFails: undefined, livenessFails: undefined };
const everMs = Number.POSITIVE_INFINITY;
const seconds = (from: number, until: number): FailureWindow => ({ fromMs: from * 1_000, untilMs: until * 1_000 });

/** What the probes say, from the time on at which it changes: `15 ready`. */
function changes(probes: Omit<Container, 'name'>, fails: Fails = {}): readonly string[] {
  const container = { name: 'c', ...probes };
  const said: string[] = [];
  for (let ms: number | undefined = 0; ms !== undefined; ) {
    const state = planProbes(container, { ...never, ...fails }, ms);
    const { started, ready, failed } = state;
    said.push(`${ms / 1_000} ${failed ? `${failed} failed` : ready ? 'ready' : started ? 'started' : 'waiting'}`);
    if (state.nextMs !== undefined) assert.ok(state.nextMs > ms, 'the next change is later');
    ms = state.nextMs;
  }
  return said.filter((text, index) => text.split(' ')[1] !== said[index - 1]?.split(' ')[1]);
}

describe('the probes of a container', () => {
  const rows: readonly {
    title: string;
    probes: Omit<Container, 'name'>;
    fails?: Fails;
    expected: readonly string[];
  }[] = [
    { title: 'without any, it is ready at once', probes: {}, expected: ['0 ready'] },
    { title: 'readiness without a delay', probes: { readinessProbe: {} }, expected: ['0 ready'] },
    {
      title: 'the first attempt after the initial delay counts',
      probes: { readinessProbe: { initialDelaySeconds: 15, periodSeconds: 10 } },
      expected: ['0 started', '20 ready'],
    },
    {
      title: 'a delay of whole periods',
      probes: { readinessProbe: { initialDelaySeconds: 30, periodSeconds: 5 } },
      expected: ['0 started', '30 ready'],
    },
    {
      title: 'as many successes as the threshold',
      probes: { readinessProbe: { initialDelaySeconds: 2, periodSeconds: 2, successThreshold: 3 } },
      expected: ['0 started', '6 ready'],
    },
    {
      title: 'readiness that fails from one time to another, after three failures',
      probes: { readinessProbe: { periodSeconds: 2 } },
      fails: { readinessFails: seconds(5, 31) },
      expected: ['0 ready', '10 started', '32 ready'],
    },
    {
      title: 'a failure that is shorter than the threshold',
      probes: { readinessProbe: { periodSeconds: 10, failureThreshold: 3 } },
      fails: { readinessFails: seconds(5, 25) },
      expected: ['0 ready'],
    },
    {
      title: 'startup before readiness, which begins then',
      probes: {
        startupProbe: { initialDelaySeconds: 5, periodSeconds: 1 },
        readinessProbe: { periodSeconds: 10, successThreshold: 2 },
      },
      expected: ['0 waiting', '5 started', '15 ready'],
    },
    {
      title: 'startup that comes late',
      probes: { startupProbe: { periodSeconds: 10, failureThreshold: 5 } },
      fails: { startupFails: seconds(0, 25) },
      expected: ['0 waiting', '30 ready'],
    },
    {
      title: 'startup that fails too often',
      probes: { startupProbe: { periodSeconds: 10 }, livenessProbe: {} },
      fails: { startupFails: { fromMs: 0, untilMs: everMs } },
      expected: ['0 waiting', '20 startup failed'],
    },
    {
      title: 'liveness that fails too often, and never recovers in this container',
      probes: { livenessProbe: { initialDelaySeconds: 3, periodSeconds: 1, failureThreshold: 2 } },
      fails: { livenessFails: seconds(10, 12) },
      expected: ['0 ready', '11 liveness failed'],
    },
  ];
  for (const { title, probes, fails, expected } of rows) {
    it(title, () => assert.deepEqual(changes(probes, fails), expected));
  }
});
