import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerState, ContainerStatus, PodSpec } from '../../../../src/api/pod.ts';
import { derivePodPhase } from '../../../../src/kubelet/pod-status/derive-pod-phase.ts';
import { makePod } from '../../../support/runtime-world.ts';

type Told = readonly [name: string, state: ContainerState, lastState?: ContainerState, started?: boolean];

const runs: ContainerState = { running: {} };
const waits: ContainerState = { waiting: { reason: 'any' } };
const ended = (exitCode: number): ContainerState => ({ terminated: { exitCode } });

function phaseOf(
  spec: PodSpec,
  told: readonly Told[],
  more: { readonly over?: boolean; readonly initialized?: boolean } = {},
): string {
  const statuses = told.map(
    ([name, state, lastState = {}, started = true]): ContainerStatus => ({
      name,
      state,
      lastState,
      started,
      ready: true,
      restartCount: 0,
      image: 'i',
      imageID: 'i',
    }),
  );
  const { over = false, initialized = false } = more;
  return derivePodPhase({ pod: makePod('web', spec), statuses, workerSaysTerminal: over, hasInitialized: initialized });
}

const two: PodSpec = { containers: [{ name: 'a' }, { name: 'b' }] };
const init: PodSpec = { containers: [{ name: 'a' }], initContainers: [{ name: 'i' }] };
const sidecar: PodSpec = { containers: [{ name: 'a' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] };
const always = { ...two, restartPolicy: 'Always' };
const onFailure = { ...two, restartPolicy: 'OnFailure' };
const never = { ...two, restartPolicy: 'Never' };

describe('the phase of a pod', () => {
  const rows: readonly [string, string, string][] = [
    [
      'one runs',
      phaseOf(two, [
        ['a', runs],
        ['b', ended(0)],
      ]),
      'Running',
    ],
    [
      'one has not run yet',
      phaseOf(two, [
        ['a', runs],
        ['b', waits],
      ]),
      'Pending',
    ],
    [
      'one waits for its restart',
      phaseOf(two, [
        ['a', runs],
        ['b', waits, ended(1)],
      ]),
      'Running',
    ],
    [
      'all wait for their restart',
      phaseOf(always, [
        ['a', waits, ended(1)],
        ['b', waits, ended(0)],
      ]),
      'Running',
    ],
    ['nobody knows of one', phaseOf(two, [['a', runs]]), 'Pending'],
    [
      'one is in no state at all',
      phaseOf(two, [
        ['a', runs],
        ['b', {}],
      ]),
      'Pending',
    ],
    ['nothing is known', phaseOf(two, []), 'Pending'],
    [
      'all exited, for ever again',
      phaseOf(always, [
        ['a', ended(0)],
        ['b', ended(0)],
      ]),
      'Running',
    ],
    [
      'all succeeded',
      phaseOf(onFailure, [
        ['a', ended(0)],
        ['b', ended(0)],
      ]),
      'Succeeded',
    ],
    [
      'one failed and is started again',
      phaseOf(onFailure, [
        ['a', ended(0)],
        ['b', ended(1)],
      ]),
      'Running',
    ],
    [
      'one failed for good',
      phaseOf(never, [
        ['a', ended(0)],
        ['b', ended(1)],
      ]),
      'Failed',
    ],
    [
      'over: all succeeded',
      phaseOf(
        always,
        [
          ['a', ended(0)],
          ['b', ended(0)],
        ],
        { over: true },
      ),
      'Succeeded',
    ],
    [
      'over: one failed',
      phaseOf(
        always,
        [
          ['a', ended(0)],
          ['b', ended(1)],
        ],
        { over: true },
      ),
      'Failed',
    ],
    [
      'over: one still runs',
      phaseOf(
        always,
        [
          ['a', ended(0)],
          ['b', runs],
        ],
        { over: true },
      ),
      'Running',
    ],
    [
      'over: one waits after it succeeded',
      phaseOf(
        always,
        [
          ['a', ended(0)],
          ['b', waits, ended(0)],
        ],
        { over: true },
      ),
      'Failed',
    ],
    [
      'an init container runs',
      phaseOf(init, [
        ['i', runs],
        ['a', waits],
      ]),
      'Pending',
    ],
    ['an init container is unknown', phaseOf(init, [['a', runs]]), 'Pending'],
    [
      'an init container is through',
      phaseOf(init, [
        ['i', ended(0)],
        ['a', runs],
      ]),
      'Running',
    ],
    [
      'one failed before and waits',
      phaseOf({ ...init, restartPolicy: 'Never' }, [
        ['i', waits, ended(1)],
        ['a', waits],
      ]),
      'Failed',
    ],
    [
      'one failed and is started again',
      phaseOf(init, [
        ['i', ended(1)],
        ['a', waits],
      ]),
      'Pending',
    ],
    [
      'a sidecar waits for its first run',
      phaseOf(sidecar, [
        ['s', waits],
        ['a', waits],
      ]),
      'Pending',
    ],
    [
      'a sidecar has not started',
      phaseOf(sidecar, [
        ['s', runs, {}, false],
        ['a', runs],
      ]),
      'Pending',
    ],
    [
      'the same after the pod was through',
      phaseOf(
        sidecar,
        [
          ['s', runs, {}, false],
          ['a', runs],
        ],
        { initialized: true },
      ),
      'Running',
    ],
    [
      'only a sidecar runs',
      phaseOf({ ...sidecar, restartPolicy: 'Never' }, [
        ['s', runs],
        ['a', ended(0)],
      ]),
      'Running',
    ],
    [
      'a sidecar that failed counts for nothing',
      phaseOf({ ...sidecar, restartPolicy: 'Never' }, [
        ['s', ended(1)],
        ['a', ended(0)],
      ]),
      'Succeeded',
    ],
  ];
  for (const [title, phase, expected] of rows) {
    it(`${title}: ${expected}`, () => {
      assert.equal(phase, expected);
    });
  }
});
