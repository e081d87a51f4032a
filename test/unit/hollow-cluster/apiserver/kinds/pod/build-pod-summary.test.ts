import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPodSummary } from '../../../../../../src/hollow-cluster/apiserver/kinds/pod/build-pod-summary.ts';

const ended = (exitCode: number, reason?: string, signal?: number): object => ({
  state: {
    terminated: { exitCode, ...(reason === undefined ? {} : { reason }), ...(signal === undefined ? {} : { signal }) },
  },
});
const waiting = (reason: string): object => ({ state: { waiting: { reason } } });
const running = { ready: true, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } };

interface Shape {
  readonly phase?: string;
  readonly reason?: string;
  readonly containers?: readonly object[];
  readonly init?: readonly object[];
  readonly initSpecs?: readonly object[];
  readonly conditions?: readonly object[];
  readonly deleted?: boolean;
}

function aPod(shape: Shape): Record<string, unknown> {
  const { containers = [], init = [], conditions = [] } = shape;
  return {
    metadata: shape.deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
    spec: {
      containers: containers.map((_, index) => ({ name: `c${index}` })),
      initContainers: shape.initSpecs ?? init.map((_, index) => ({ name: `i${index}` })),
    },
    status: {
      phase: shape.phase ?? 'Running',
      reason: shape.reason,
      conditions,
      containerStatuses: containers.map((status, index) => ({ name: `c${index}`, restartCount: 0, ...status })),
      initContainerStatuses: init.map((status, index) => ({ name: `i${index}`, restartCount: 0, ...status })),
    },
  };
}

const stories: readonly (readonly [story: string, shape: Shape, status: string, ready: string])[] = [
  ['runs', { containers: [running] }, 'Running', '1/1'],
  ['is not ready', { containers: [{ ...running, ready: false }] }, 'Running', '0/1'],
  ['is not scheduled', { phase: 'Pending' }, 'Pending', '0/0'],
  ['failed with a reason', { phase: 'Failed', reason: 'Evicted' }, 'Evicted', '0/0'],
  [
    'has a scheduling gate',
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] },
    'SchedulingGated',
    '0/0',
  ],
  ['cannot start', { containers: [waiting('ImagePullBackOff'), running] }, 'ImagePullBackOff', '1/2'],
  [
    'has several failing containers: the first one counts',
    { containers: [ended(1, 'Error'), waiting('CrashLoopBackOff')] },
    'Error',
    '0/2',
  ],
  ['ended by exit code', { phase: 'Failed', containers: [ended(3)] }, 'ExitCode:3', '0/1'],
  ['ended by signal', { phase: 'Failed', containers: [ended(137, undefined, 9)] }, 'Signal:9', '0/1'],
  ['succeeded', { phase: 'Succeeded', containers: [ended(0, 'Completed')] }, 'Completed', '0/1'],
  [
    'has one completed and one ready container',
    { containers: [ended(0, 'Completed'), running], conditions: [{ type: 'Ready', status: 'True' }] },
    'Running',
    '1/2',
  ],
  ['has one completed container and is not ready', { containers: [ended(0, 'Completed'), running] }, 'NotReady', '1/2'],
  [
    'has one completed and one failed container',
    { containers: [ended(0, 'Completed'), ended(2, 'Error')] },
    'Error',
    '0/2',
  ],
  [
    'initialises',
    { containers: [waiting('PodInitializing')], init: [ended(0), waiting('PodInitializing')] },
    'Init:1/2',
    '0/1',
  ],
  ['cannot initialize', { containers: [{}], init: [waiting('ErrImagePull')] }, 'Init:ErrImagePull', '0/1'],
  ['failed to initialize', { containers: [{}], init: [ended(1)] }, 'Init:ExitCode:1', '0/1'],
  ['was killed during initialization', { containers: [{}], init: [ended(137, undefined, 9)] }, 'Init:Signal:9', '0/1'],
  ['is initialized', { containers: [running], init: [ended(0)] }, 'Running', '1/1'],
  [
    'restarts an init container after it was initialized',
    { containers: [running], init: [ended(1, 'Error')], conditions: [{ type: 'Initialized', status: 'True' }] },
    'Init:Error',
    '1/1',
  ],
  [
    'has a sidecar',
    {
      containers: [running],
      init: [{ ...running, started: true }],
      initSpecs: [{ name: 'i0', restartPolicy: 'Always' }],
    },
    'Running',
    '2/2',
  ],
  ['ends', { containers: [running], deleted: true }, 'Terminating', '1/1'],
  [
    'is deleted on a node that was lost',
    { containers: [running], deleted: true, reason: 'NodeLost' },
    'Unknown',
    '1/1',
  ],
  ['was deleted after it failed', { phase: 'Failed', reason: 'Evicted', deleted: true }, 'Evicted', '0/0'],
];

for (const [scenario, shape, status, ready] of stories) {
  test(`a pod that ${scenario}: ${status} ${ready}`, () => {
    const summary = buildPodSummary(aPod(shape));
    assert.deepEqual([summary.status, `${summary.ready}/${summary.total}`], [status, ready]);
  });
}

test('restarts of all containers are added up, with the time of the last one', () => {
  const terminated = (restartCount: number, finishedAt: string): object => ({
    ...running,
    restartCount,
    lastState: { terminated: { finishedAt } },
  });
  const pod = aPod({
    containers: [terminated(2, '2026-01-01T00:00:05Z'), terminated(1, '2026-01-01T00:00:09Z'), running],
  });
  const { restarts, lastRestartMs } = buildPodSummary(pod);
  assert.deepEqual([restarts, lastRestartMs], [3, Date.parse('2026-01-01T00:00:09Z')]);
});

test('restarts of init containers count during initialization; afterwards only those of sidecars', () => {
  const again = { restartCount: 4, ...waiting('CrashLoopBackOff') };
  assert.equal(buildPodSummary(aPod({ containers: [{}], init: [again] })).restarts, 4);
  const done = { restartCount: 4, ...ended(0) };
  assert.equal(buildPodSummary(aPod({ containers: [running], init: [done] })).restarts, 0);
  const initSpecs = [{ name: 'i0', restartPolicy: 'Always' }];
  const sidecar = { ...running, started: true, restartCount: 4 };
  assert.equal(buildPodSummary(aPod({ containers: [running], init: [sidecar], initSpecs })).restarts, 4);
});
