import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { deriveSelectedNodes } from '../../../../src/kubelet/faults/derive-selected-nodes.ts';
import type { Fault } from '../../../../src/kubelet/faults/fault.ts';
import { playScript, type ScriptStep } from '../../../../src/kubelet/faults/fault-script.ts';
import type { GroundTruth } from '../../../../src/kubelet/faults/ground-truth.ts';
import { FleetWorld } from '../../../support/fleet-world.ts';

const dark = { kind: 'partition', direction: 'all', manner: 'silent' } as const;

describe('what a selector means', () => {
  const nodes = Array.from({ length: 20 }, (_, index) => ({
    name: `node-${index}`,
    labels: { 'topology.kubernetes.io/zone': index % 2 === 0 ? 'a' : 'b', tier: index < 5 ? 'spot' : 'on-demand' },
  }));

  it('is every node where it says nothing, and all that it says has to fit', () => {
    assert.equal(deriveSelectedNodes(nodes, {}, '').length, 20);
    assert.deepEqual(deriveSelectedNodes(nodes, { names: ['node-1?', 'node-3'], zone: 'b' }, ''), [
      'node-3',
      'node-11',
      'node-13',
      'node-15',
      'node-17',
      'node-19',
    ]);
    assert.deepEqual(deriveSelectedNodes(nodes, { labels: { tier: 's*' }, zone: 'a' }, ''), [
      'node-0',
      'node-2',
      'node-4',
    ]);
    assert.deepEqual(deriveSelectedNodes(nodes, { labels: { missing: '*' } }, ''), []);
    assert.deepEqual(deriveSelectedNodes(nodes, { names: ['node-1.'] }, ''), [], 'a point is a point');
  });

  it('draws a share, rounded up, that only the seed decides', () => {
    const drawn = deriveSelectedNodes(nodes, { zone: 'a', share: 0.55 }, '7/dark');
    assert.equal(drawn.length, 6);
    assert.deepEqual(deriveSelectedNodes([...nodes].reverse(), { zone: 'a', share: 0.55 }, '7/dark'), drawn);
    assert.notDeepEqual(deriveSelectedNodes(nodes, { zone: 'a', share: 0.55 }, '8/dark'), drawn);
    assert.equal(deriveSelectedNodes(nodes, { count: 3 }, '').length, 3);
  });
});

describe('a board of faults', () => {
  let world: FleetWorld;

  beforeEach(async () => {
    world = new FleetWorld({ nodes: 10, zoneOf: (index) => (index < 4 ? 'a' : 'b') });
    await world.advance(30);
  });

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'nobody sleeps on after the end');
  });

  const changes = (fault: string): readonly string[] =>
    world.truths.filter((truth) => truth.fault === fault).map(({ node, change }) => `${node} ${change}`);

  it('puts a fault up at once, for its time', async () => {
    const posted = world.fleet.faults.post({ selector: { zone: 'a' }, fault: dark, forMs: 20_000, id: 'x' });
    assert.deepEqual([posted.nodes, posted.active, posted.waiting], [['n1', 'n2', 'n3', 'n4'], 4, 0]);
    assert.equal(world.fleet.status().cutOff, 4);
    assert.deepEqual(world.fleet.faults.on('n1'), ['x']);
    await world.advance(19.9);
    assert.equal(world.fleet.status().cutOff, 4);
    await world.advance(0.2);
    assert.equal(world.fleet.status().cutOff, 0);
    assert.deepEqual(world.fleet.faults.list(), []);
    assert.deepEqual(changes('x').slice(-2), ['n3 end', 'n4 end']);
  });

  it('lets a wave pass over the nodes, so many a second, each for its time', async () => {
    const posted = world.fleet.faults.post({ selector: {}, fault: dark, nodesPerSecond: 2, forMs: 1_000, id: 'w' });
    assert.deepEqual([posted.active, posted.waiting], [1, 9]);
    await world.advance(2);
    assert.equal(world.fleet.faults.list()[0]?.waiting, 5);
    assert.equal(world.fleet.status().cutOff, 2);
    await world.advance(10);
    assert.deepEqual(
      changes('w').filter((change) => change.endsWith('begin')),
      posted.nodes.map((node) => `${node} begin`),
    );
    assert.notDeepEqual(posted.nodes, [...posted.nodes].sort(), 'in an order that the seed has drawn');
  });

  it('takes a fault back from those who have it and those who wait, and knows what it does not know', async () => {
    world.fleet.faults.post({ selector: {}, fault: dark, nodesPerSecond: 1, id: 'w' });
    await world.advance(3);
    assert.equal(world.fleet.faults.withdraw('w'), true);
    assert.equal(world.fleet.status().cutOff, 0);
    await world.advance(30);
    assert.equal(world.fleet.status().cutOff, 0);
    assert.equal(world.fleet.faults.withdraw('v'), false);
  });

  it('refuses an id that was used, and a selector that fits nobody', () => {
    world.post(dark, ['n1'], { id: 'once' });
    assert.throws(
      () => world.post(dark, ['n2'], { id: 'once' }),
      /id: got "once"; accepted: one that was not used yet/,
    );
    assert.throws(() => world.post(dark, ['m*']), /selector: fits no node of the fleet/);
    assert.equal(world.fleet.status().cutOff, 1);
  });

  it('keeps what one fault does when another ends', async () => {
    const first = world.post(dark);
    const second = world.post({ kind: 'silence', heartbeat: 'lease' });
    world.fleet.faults.withdraw(first.id);
    const renewed = world.lease()?.spec?.renewTime;
    await world.advance(40);
    assert.equal(world.fleet.status().cutOff, 0);
    assert.equal(world.lease()?.spec?.renewTime, renewed);
    world.fleet.faults.withdraw(second.id);
    await world.advance(20);
    assert.notEqual(world.lease()?.spec?.renewTime, renewed);
  });

  it('turns a flapping node down and up, each at its own point of the cycle if it is to', async () => {
    world.fleet.faults.post({ selector: {}, fault: { kind: 'flap', upMs: 5_000, downMs: 5_000, phase: 'hash' } });
    const seen = new Set<number>();
    for (let seconds = 0; seconds < 30; seconds += 1) {
      await world.advance(1);
      seen.add(world.fleet.status().cutOff);
    }
    assert.ok(seen.size > 3, 'they do not go as one');
    const ups = world.truths.filter(({ change, node }) => change === 'up' && node === 'n1');
    assert.ok(ups.length >= 2);
  });

  const conditionOf = (type: string): string | undefined =>
    world.node()?.status?.conditions?.find((condition) => condition.type === type)?.status;

  const shown: readonly (readonly [string, Fault, () => boolean])[] = [
    [
      'a forced condition',
      { kind: 'pressure', of: 'disk', manner: 'forced' },
      () => conditionOf('DiskPressure') === 'True',
    ],
    [
      'a driven signal',
      { kind: 'pressure', of: 'memory', manner: 'signal' },
      () => conditionOf('MemoryPressure') === 'True',
    ],
    ['one of its own', { kind: 'pressure', of: 'Rusty', manner: 'forced' }, () => conditionOf('Rusty') === 'True'],
    ['a reason', { kind: 'unhealthy', reason: 'dust' }, () => world.ready()?.message?.includes('dust') === true],
    ['a hanging PLEG', { kind: 'pleg-hang' }, () => world.ready()?.message?.includes('PLEG is not healthy') === true],
    ['another size', { kind: 'capacity', cpuCores: 2 }, () => world.node()?.status?.capacity?.['cpu'] === '2'],
  ];
  for (const [what, fault, holds] of shown) {
    it(`shows ${what} and takes it back`, async () => {
      const { id } = world.post(fault);
      await world.until(what, 250, holds);
      world.fleet.faults.withdraw(id);
      await world.until(`${what} gone`, 350, () => !holds());
    });
  }

  it('breaks what pods do: start, pull, stop, run', async () => {
    const start = world.post({ kind: 'slow-start', startMs: 60_000 });
    await world.bind('slow');
    await world.advance(30);
    assert.equal(world.pod('slow')?.status?.phase, 'Pending');
    world.fleet.faults.withdraw(start.id);
    await world.until('running', 60, () => world.pod('slow')?.status?.phase === 'Running');
    world.post({ kind: 'slow-termination', stopMs: 'never' });
    await world.api.delete('pods', { namespace: 'default', name: 'slow' }, uidOf('slow'));
    await world.advance(25);
    assert.notEqual(world.pod('slow'), undefined, 'it is there until its grace period ends');
    await world.until('gone', 15, () => world.pod('slow') === undefined);
    world.post({ kind: 'crash-loop', exitCode: 3, afterMs: 1_000 }, ['n2']);
    await world.bind('loop', 'n2');
    await world.until('a crash loop', 60, () => JSON.stringify(world.pod('loop')).includes('CrashLoopBackOff'));
    world.post({ kind: 'image-pull-failure', message: 'no such image' }, ['n3']);
    await world.bind('pull', 'n3');
    await world.until('a failed pull', 60, () =>
      /ErrImagePull|ImagePullBackOff/.test(JSON.stringify(world.pod('pull'))),
    );
  });

  it('keeps scripting containers when the kubelet starts anew', async () => {
    world.post({ kind: 'slow-start', startMs: 60_000 });
    world.post({ kind: 'crash', of: 'process', downMs: 1_000 });
    await world.advance(5);
    await world.bind('slow');
    await world.advance(30);
    assert.equal(world.pod('slow')?.status?.phase, 'Pending');
  });

  it('reboots a machine: another boot id, and nothing of its containers runs on', async () => {
    await world.bind('web');
    await world.advance(5);
    const uid = world.pod('web')?.metadata.uid ?? '';
    const before = world.fleet
      .kubelet('n1')
      ?.host.live(uid)
      .map(({ id }) => id);
    const bootId = world.node()?.status?.nodeInfo?.bootID;
    world.post({ kind: 'crash', of: 'machine', downMs: 5_000 });
    await world.advance(30);
    assert.notEqual(world.node()?.status?.nodeInfo?.bootID, bootId);
    const after = world.fleet
      .kubelet('n1')
      ?.host.live(uid)
      .map(({ id }) => id);
    assert.equal(after?.length, 1);
    assert.notDeepEqual(after, before);
  });

  it('a node with nothing but errors sends no more than upstream would, and asks for new connections once in 10 s [L6]', async () => {
    await world.end();
    let asked = 0;
    world = new FleetWorld({ nodes: 10, fleet: { onRepeatedFailure: () => (asked += 1) } });
    await world.advance(60);
    const before = world.api.requests.length;
    world.post({ kind: 'errors', code: 500, rate: 1 });
    const failed = world.fleet.status().renewals;
    await world.advance(60);
    assert.equal(world.api.requests.slice(before).filter(({ name }) => name === 'n1').length, 0);
    assert.ok(asked >= 1 && asked <= 7, `${asked} times in a minute`);
    const others = world.fleet.status().renewals - failed;
    assert.ok(others >= 9 * 5 && others <= 9 * 6, `${others} renewals of the nine others`);
    assert.equal(world.truths.length, 1);
  });

  function uidOf(name: string): { readonly uid: string; readonly signal: AbortSignal } {
    return { uid: world.pod(name)?.metadata.uid ?? '', signal: world.signal };
  }
});

describe('a script of faults', () => {
  const steps: readonly ScriptStep[] = [
    { atMs: 5_000, act: { kind: 'post', order: { selector: { zone: 'a', share: 0.55 }, fault: dark, forMs: 60_000 } } },
    { atMs: 9_000, act: { kind: 'post', order: { selector: { names: ['x*'] }, fault: dark } } },
    {
      atMs: 1_000,
      act: {
        kind: 'post',
        order: { selector: { count: 5 }, fault: { kind: 'crash', of: 'machine', downMs: 7_000 }, nodesPerSecond: 3 },
      },
    },
    {
      atMs: 30_000,
      act: {
        kind: 'post',
        order: { id: 'f', selector: {}, fault: { kind: 'flap', upMs: 9_000, downMs: 4_000, phase: 'hash' } },
      },
    },
    { atMs: 80_000, act: { kind: 'clear', id: 'f' } },
    { atMs: 81_000, act: { kind: 'clear' } },
  ];

  async function play(
    seed: number,
  ): Promise<{ readonly truths: readonly GroundTruth[]; readonly problems: readonly string[] }> {
    const world = new FleetWorld({ nodes: 30, zoneOf: (index) => (index % 2 === 0 ? 'a' : 'b'), seed });
    await world.advance(20);
    const problems: string[] = [];
    const onStep = (_step: ScriptStep, problem: string | undefined): void => {
      if (problem !== undefined) problems.push(problem);
    };
    const playing = playScript(steps, { board: world.fleet.faults, clock: world.clock, onStep }, world.signal);
    await world.advance(100);
    await playing;
    assert.deepEqual(world.fleet.faults.list(), []);
    await world.end();
    return { truths: world.truths, problems };
  }

  it('does the same to the same nodes at the same time, if the seed is the same [L7]', async () => {
    const [first, second, other] = [await play(7), await play(7), await play(8)];
    assert.deepEqual(second.truths, first.truths);
    assert.ok(first.truths.length > 100);
    assert.notDeepEqual(other.truths, first.truths);
    assert.deepEqual(first.problems, ['selector: fits no node of the fleet']);
  });
});
