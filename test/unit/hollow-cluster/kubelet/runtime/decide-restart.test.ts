import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeSandboxProblem } from '../../../../../src/hollow-cluster/kubelet/runtime/decide-restart.ts';
import type { RuntimePodStatus, RuntimeState } from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';

/** A pod with sandboxes in these states, newest first. */
function podWith(...states: readonly RuntimeState[]): RuntimePodStatus {
  const containers = states.map((state, index) => ({
    id: `s-${index}`,
    name: '',
    kind: 'sandbox' as const,
    state,
    image: '',
    imageId: '',
    restartCount: 0,
    createdAtMs: 0,
    startedAtMs: undefined,
    finishedAtMs: undefined,
    exitCode: undefined,
    reason: undefined,
    message: undefined,
  }));
  return { uid: 'u', namespace: 'd', name: 'p', ips: [], containers };
}

describe('why a pod needs a new sandbox', () => {
  const cases: readonly (readonly [string, readonly RuntimeState[], string | undefined])[] = [
    ['it has none', [], 'no pod sandbox exists'],
    ['its newest sandbox has ended', ['exited', 'exited'], 'pod sandbox is not ready'],
    ['an older one is ready', ['exited', 'running'], 'pod sandbox is not ready'],
    ['two are ready', ['running', 'running'], 'multiple pod sandboxes are ready and need to be reconciled'],
    ['it does not', ['running', 'exited'], undefined],
  ];
  for (const [why, states, message] of cases) {
    it(why, () => assert.equal(describeSandboxProblem(podWith(...states)), message));
  }
});
