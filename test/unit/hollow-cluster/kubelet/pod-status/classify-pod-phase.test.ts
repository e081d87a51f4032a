import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerState, ContainerStatus, PodSpec } from '../../../../../src/machinery/api/pod.ts';
import { classifyPodPhase } from '../../../../../src/hollow-cluster/kubelet/pod-status/classify-pod-phase.ts';
import { makePod } from '../../../../support/runtime-world.ts';

/** The state behind its word; a number is the exit code of a terminated container. */
function stateOf(word = ''): ContainerState {
  if (word === 'runs' || word === 'unstarted') return { running: {} };
  if (word === 'waits') return { waiting: { reason: 'any' } };
  return word === '' ? {} : { terminated: { exitCode: Number(word) } };
}

/** From `name state/last-state`, such as `a waits/1`; `unstarted`: runs, but its startup probe has not succeeded. */
function buildStatus(text: string): ContainerStatus {
  const [name = '', state, lastState] = text.split(/[ /]/u);
  const identity = { name, ready: true, restartCount: 0, image: 'i', imageID: 'i' };
  return { ...identity, state: stateOf(state), lastState: stateOf(lastState), started: state !== 'unstarted' };
}

const two: PodSpec = { containers: [{ name: 'a' }, { name: 'b' }] };
const init: PodSpec = { containers: [{ name: 'a' }], initContainers: [{ name: 'i' }] };
const sidecar: PodSpec = { containers: [{ name: 'a' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] };
const always = { ...two, restartPolicy: 'Always' };
const onFailure = { ...two, restartPolicy: 'OnFailure' };
const never = { ...two, restartPolicy: 'Never' };

type Flag = 'isWorkerTerminal' | 'hasInitialized';
type Row = readonly [title: string, spec: PodSpec, statuses: string, phase: string, flag?: Flag];

describe('the phase of a pod', () => {
  const rows: readonly Row[] = [
    ['one runs', two, 'a runs, b 0', 'Running'],
    ['one container has not run yet', two, 'a runs, b waits', 'Pending'],
    ['one container waits for its restart', two, 'a runs, b waits/1', 'Running'],
    ['all containers wait for their restart', always, 'a waits/1, b waits/0', 'Running'],
    ['one container has no status', two, 'a runs', 'Pending'],
    ['one container has no state', two, 'a runs, b', 'Pending'],
    ['no container has a status', two, '', 'Pending'],
    ['all exited with restart policy Always', always, 'a 0, b 0', 'Running'],
    ['all succeeded', onFailure, 'a 0, b 0', 'Succeeded'],
    ['one failed and is restarted', onFailure, 'a 0, b 1', 'Running'],
    ['one failed and is not restarted', never, 'a 0, b 1', 'Failed'],
    ['worker terminal: all succeeded', always, 'a 0, b 0', 'Succeeded', 'isWorkerTerminal'],
    ['worker terminal: one failed', always, 'a 0, b 1', 'Failed', 'isWorkerTerminal'],
    ['worker terminal: one still runs', always, 'a 0, b runs', 'Running', 'isWorkerTerminal'],
    ['worker terminal: one waits after it succeeded', always, 'a 0, b waits/0', 'Failed', 'isWorkerTerminal'],
    ['an init container runs', init, 'i runs, a waits', 'Pending'],
    ['an init container has no status', init, 'a runs', 'Pending'],
    ['an init container has completed', init, 'i 0, a runs', 'Running'],
    ['an init container failed before and waits', { ...init, restartPolicy: 'Never' }, 'i waits/1, a waits', 'Failed'],
    ['an init container failed and is restarted', init, 'i 1, a waits', 'Pending'],
    ['a sidecar waits for its first run', sidecar, 's waits, a waits', 'Pending'],
    ['a sidecar has not started', sidecar, 's unstarted, a runs', 'Pending'],
    ['the same after the pod was initialized', sidecar, 's unstarted, a runs', 'Running', 'hasInitialized'],
    ['only a sidecar runs', { ...sidecar, restartPolicy: 'Never' }, 's runs, a 0', 'Running'],
    ['a failed sidecar is ignored', { ...sidecar, restartPolicy: 'Never' }, 's 1, a 0', 'Succeeded'],
  ];
  for (const [title, spec, statuses, phase, flag] of rows) {
    it(`${title}: ${phase}`, () => {
      const containers = statuses === '' ? [] : statuses.split(', ').map(buildStatus);
      const pod = makePod('web', spec);
      const flags = { isWorkerTerminal: flag === 'isWorkerTerminal', hasInitialized: flag === 'hasInitialized' };
      assert.equal(classifyPodPhase({ pod, statuses: containers, ...flags }), phase);
    });
  }
});
