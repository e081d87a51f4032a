import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffPodRecords, diffStates } from '../../../../../src/hollow-cluster/kubelet/pleg/diff-pod-records.ts';
import type {
  ContainerKind,
  RuntimePod,
  RuntimeState,
} from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';

function podWith(state: RuntimeState | 'absent', kind: ContainerKind = 'container'): RuntimePod | undefined {
  if (state === 'absent') return undefined;
  return { uid: 'u', namespace: 'ns', name: 'p', containers: [{ id: 'c1', name: 'c', kind, state }] };
}

const eventsOf = (old: RuntimeState | 'absent', current: RuntimeState | 'absent', kind?: ContainerKind) =>
  diffPodRecords(podWith(old, kind), podWith(current, kind)).map(({ type }) => type);

const rows: readonly [RuntimeState | 'absent', RuntimeState | 'absent', readonly string[]][] = [
  ['absent', 'running', ['ContainerStarted']],
  ['created', 'running', ['ContainerStarted']],
  ['exited', 'running', ['ContainerStarted']],
  ['unknown', 'running', ['ContainerStarted']],
  ['running', 'exited', ['ContainerDied']],
  ['absent', 'exited', ['ContainerDied']],
  ['created', 'exited', ['ContainerDied']],
  ['absent', 'created', ['ContainerChanged']],
  ['running', 'unknown', ['ContainerChanged']],
  ['created', 'unknown', []],
  ['exited', 'absent', ['ContainerRemoved']],
  ['running', 'absent', ['ContainerDied', 'ContainerRemoved']],
  ['unknown', 'absent', ['ContainerDied', 'ContainerRemoved']],
  ['created', 'absent', ['ContainerDied', 'ContainerRemoved']],
];

describe('the events between two relists', () => {
  for (const [old, current, expected] of rows) {
    it(`${old} to ${current}: ${expected.join(', ') || 'nothing'} [E1]`, () => {
      assert.deepEqual(eventsOf(old, current), expected);
      assert.deepEqual(eventsOf(old, current, 'sandbox'), expected);
    });
  }

  it('are none for unchanged containers [E1]', () => {
    for (const state of ['created', 'running', 'exited', 'unknown', 'absent'] as const) {
      assert.deepEqual(eventsOf(state, state), []);
    }
    assert.deepEqual(diffStates('unknown', 'unknown'), []);
  });

  it('are those of containers first and of sandboxes last, each with its id', () => {
    const sandbox = { id: 's', name: '', kind: 'sandbox', state: 'running' } as const;
    const container = { id: 'c', name: 'c', kind: 'container', state: 'running' } as const;
    const pod = { uid: 'u', namespace: 'ns', name: 'p', containers: [sandbox, container] };
    const containerIds = diffPodRecords(undefined, pod).map(({ containerId }) => containerId);
    assert.deepEqual(containerIds, ['c', 's']);
  });
});
