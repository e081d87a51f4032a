import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, PodSpec } from '../../../../../src/machinery/api/pod.ts';
import { decidePodActions } from '../../../../../src/hollow-cluster/kubelet/runtime/decide-pod-actions.ts';
import {
  type ContainerKind,
  noProbes,
  type ProbeResults,
  type RuntimeContainerStatus,
  type RuntimeState,
} from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { makePod } from '../../../../support/runtime-world.ts';

function seen(
  name: string,
  state: RuntimeState,
  kind: ContainerKind = 'container',
  exitCode = 0,
): RuntimeContainerStatus {
  const times = { createdAtMs: 0, startedAtMs: undefined, finishedAtMs: undefined };
  const rest = { reason: undefined, message: undefined, image: 'i', imageId: 'i', restartCount: 0 };
  return {
    id: `${name}-id`,
    name,
    kind,
    state,
    ...times,
    ...rest,
    exitCode: state === 'exited' ? exitCode : undefined,
  };
}

const up = seen('', 'running', 'sandbox');
const down = seen('', 'exited', 'sandbox');
const named = (name: string): Container => ({ name, image: 'i' });
const sidecar = (name: string): Container => ({ ...named(name), restartPolicy: 'Always' });

/** The actions in short form. */
function decide(spec: PodSpec, ...containers: readonly RuntimeContainerStatus[]): string {
  return decideProbed({}, spec, ...containers);
}

function decideProbed(
  probes: Partial<ProbeResults>,
  spec: PodSpec,
  ...containers: readonly RuntimeContainerStatus[]
): string {
  const pod = makePod('web', { containers: [named('c')], ...spec });
  const status = { uid: 'web-uid', namespace: 'ns', name: 'web', ips: [], containers };
  const { killPod, newSandboxAttempt, toKill, initToStart, toStart } = decidePodActions(pod, status, {
    ...noProbes,
    ...probes,
  });
  return [
    killPod ? 'kill all' : '',
    newSandboxAttempt === undefined ? '' : `sandbox ${newSandboxAttempt}`,
    ...toKill.map(({ name, graceMs }) => `kill ${name}${graceMs === undefined ? '' : ` in ${graceMs} ms`}`),
    ...[...initToStart, ...toStart].map(({ name }) => `start ${name}`),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const never = { restartPolicy: 'Never' };
const onFailure = { restartPolicy: 'OnFailure' };
const inits = { initContainers: [named('i1'), named('i2')] };
const sidecars = { initContainers: [sidecar('s1'), sidecar('s2')] };
const c = (state: RuntimeState, exitCode?: number) => seen('c', state, 'container', exitCode);
const earlier = (each: RuntimeContainerStatus) => ({ ...each, sandboxId: 'earlier' });
const i = (name: string, state: RuntimeState, exitCode?: number) => seen(name, state, 'init', exitCode);

describe('the actions of a sync', () => {
  const rows: readonly [string, string, string][] = [
    ['nothing exists', decide({}), 'kill all, sandbox 0, start c'],
    ['all runs', decide({}, c('running'), up), ''],
    ['the sandbox is not ready', decide({}, c('exited'), down), 'kill all, sandbox 1, start c'],
    ['two sandboxes are ready', decide({}, c('running'), up, up), 'kill all, sandbox 1, start c'],
    ['the sandbox of a pod with restart policy Never is not ready', decide(never, c('exited'), down), 'kill all'],
    ['the same before anything was created', decide(never, down), 'kill all, sandbox 1, start c'],
    ['the sandbox of a pod that has succeeded is not ready', decide(onFailure, c('exited'), down), 'kill all'],
    ['the same after a failure', decide(onFailure, c('exited', 1), down), 'kill all, sandbox 1, start c'],
    ['nothing exists, with init containers', decide(inits), 'kill all, sandbox 0, start i1'],
    ['the container never ran', decide({}, up), 'start c'],
    ['the container was created but not started', decide({}, c('created'), up), 'start c'],
    ['the container is in state unknown', decide({}, c('unknown'), up), 'kill c, start c'],
    ['the container exited, restart policy Always', decide({}, c('exited'), up), 'start c'],
    ['the container failed, restart policy Never', decide(never, c('exited', 1), up), 'kill all'],
    ['the container succeeded, restart policy OnFailure', decide(onFailure, c('exited'), up), 'kill all'],
    ['no init container ran', decide(inits, up), 'start i1'],
    ['the first init container runs', decide(inits, i('i1', 'running'), up), ''],
    ['the first init container has completed', decide(inits, i('i1', 'exited'), up), 'start i2'],
    ['the first init container failed', decide(inits, i('i1', 'exited', 1), up), 'start i1'],
    [
      'the first init container failed, restart policy Never',
      decide({ ...inits, ...never }, i('i1', 'exited', 1), up),
      'kill all',
    ],
    ['the second has completed, the first was removed', decide(inits, i('i2', 'exited'), up), 'start c'],
    ['both init containers have completed', decide(inits, i('i2', 'exited'), i('i1', 'exited'), up), 'start c'],
    ['init containers were removed, the pod runs', decide(inits, c('running'), up), ''],
    ['init containers were removed, the container exited', decide(inits, c('exited', 1), up), 'start c'],
    ['a container runs in an earlier sandbox only', decide(inits, earlier(c('running')), up), 'start i1'],
    [
      'an init container has completed in an earlier sandbox',
      decide(inits, i('i1', 'running'), earlier(i('i2', 'exited')), up),
      '',
    ],
    ['the first init container is in state unknown', decide(inits, i('i1', 'unknown'), up), 'kill i1, start i1'],
    ['the same with restart policy Never', decide({ ...inits, ...never }, i('i1', 'unknown'), up), 'kill all'],
    ['an init container was created but not started', decide(inits, i('i1', 'created'), up), 'start i1'],
    ['no sidecar runs', decide(sidecars, up), 'start s1'],
    ['the first sidecar runs', decide(sidecars, i('s1', 'running'), up), 'start s2'],
    ['both run', decide(sidecars, i('s2', 'running'), i('s1', 'running'), up), 'start c'],
    ['a sidecar exited', decide(sidecars, c('running'), i('s2', 'running'), i('s1', 'exited', 1), up), 'start s1'],
    ['sidecars were removed', decide(sidecars, c('running'), up), 'start s1, start s2'],
    [
      'only sidecars are left',
      decide({ ...sidecars, ...never }, c('exited'), i('s2', 'running'), i('s1', 'running'), up),
      'kill all',
    ],
    ['a changed image', decide({ containers: [{ name: 'c', image: 'other' }] }, c('running'), up), 'kill c, start c'],
    [
      'a changed image of a sidecar',
      decide({ initContainers: [{ ...sidecar('s'), image: 'other' }] }, c('running'), i('s', 'running'), up),
      'kill s, start s',
    ],
    [
      'one of two exited',
      decide({ ...never, containers: [named('a'), named('b')] }, seen('a', 'running'), seen('b', 'exited'), up),
      '',
    ],
  ];
  for (const [title, decided, expected] of rows) {
    it(`${title}: ${expected === '' ? 'nothing' : expected}`, () => assert.equal(decided, expected));
  }
});

describe('the actions of a sync after a probe failed', () => {
  const failed = (id: string, probe: 'startup' | 'liveness'): Partial<ProbeResults> => ({
    failed: new Map([[id, probe]]),
  });
  const livenessProbe = { terminationGracePeriodSeconds: 5 };
  const unstarted = { unstarted: new Set(['s1-id']) };
  const rows: readonly [string, string, string][] = [
    ['a container may restart', decideProbed(failed('c-id', 'liveness'), {}, c('running'), up), 'kill c, start c'],
    ['none may restart', decideProbed(failed('c-id', 'startup'), never, c('running'), up), 'kill all, kill c'],
    [
      'the probe has its own grace period',
      decideProbed(failed('c-id', 'liveness'), { containers: [{ ...named('c'), livenessProbe }] }, c('running'), up),
      'kill c in 5000 ms, start c',
    ],
    ['a sidecar has not started', decideProbed(unstarted, sidecars, i('s1', 'running'), up), ''],
    [
      'a sidecar does not start',
      decideProbed({ ...unstarted, ...failed('s1-id', 'startup') }, sidecars, i('s1', 'running'), up),
      'kill s1, start s1',
    ],
    [
      'a sidecar is not alive',
      decideProbed(failed('s1-id', 'liveness'), sidecars, i('s2', 'running'), i('s1', 'running'), c('running'), up),
      'kill s1, start s1',
    ],
  ];
  for (const [title, actual, expected] of rows) it(`${title}: ${expected}`, () => assert.equal(actual, expected));
});
