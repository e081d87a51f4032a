import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { findCondition, listConditions } from '../../../../src/api/conditions.ts';
import type { Node } from '../../../../src/api/node.ts';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { MachineHealth } from '../../../../src/kubelet/node-status/machine-health.ts';
import { NodeComposer } from '../../../../src/kubelet/node-status/node-composer.ts';
import { StatusPublisher } from '../../../../src/kubelet/node-status/status-publisher.ts';
import { statusSetters } from '../../../../src/kubelet/node-status/status-setters.ts';
import { modernProfile } from '../../../../src/kubelet/profile.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger, SeededRandom } from '../../../support/quiet.ts';

describe('the status publisher', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let logger: KeepingLogger;
  let health: MachineHealth;
  let publisher: StatusPublisher;
  let life: AbortController;
  let running: Promise<void>;

  const stored = (): Node | undefined => api.peek('nodes', 'node-1');
  const ready = () => findCondition(listConditions(stored()?.status?.conditions), 'Ready')?.status;

  beforeEach(async () => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    logger = new KeepingLogger();
    health = new MachineHealth();
    life = new AbortController();
    const composer = new NodeComposer({
      setters: statusSetters(),
      machine: deriveMachine(0),
      health,
      clock,
      logger,
    });
    publisher = new StatusPublisher({
      name: 'node-1',
      api,
      nodes: { get: () => stored() },
      composer,
      health,
      clock,
      random: new SeededRandom(3),
      logger,
      profile: modernProfile,
    });
    const registered = await api.create('nodes', composer.compose({ metadata: { name: 'node-1' } }));
    running = publisher.run(registered, life.signal);
  });

  async function end(): Promise<void> {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  }

  it('is ready a tenth of a second after it started', async () => {
    await clock.advance(99);
    assert.equal(ready(), 'False');
    await clock.advance(1);
    assert.equal(ready(), 'True');
    assert.ok(publisher.isReady);
    await end();
  });

  it('stays quiet while the node cannot become ready, until the next regular cycle', async () => {
    health.breakDown('no network');
    await clock.advance(300);
    assert.equal(api.count('patch', 'nodes'), 0);
    await clock.advance(10_400);
    assert.match(JSON.stringify(stored()), /no network/);
    health.repair();
    await clock.advance(100);
    assert.equal(ready(), 'True', 'the fast start still watches');
    await end();
  });

  it('ends the fast start after two minutes and says so', async () => {
    health.breakDown('no network');
    await clock.advance(121_000);
    assert.ok(logger.lines.some((line) => line.message === 'Node not becoming ready in time after startup'));
    health.repair();
    await clock.advance(100);
    assert.equal(ready(), 'False');
    await clock.advance(10_400);
    assert.equal(ready(), 'True');
    await end();
  });

  it('repeats a failed write at once, with a fresh read, and succeeds at the fifth try', async () => {
    await clock.advance(1_000);
    health.setCondition('DiskPressure', true);
    api.fail('patch', 'nodes', 'timeout', 4);
    const [patches, gets] = [api.count('patch', 'nodes'), api.count('get', 'nodes')];
    await publisher.publish(life.signal);
    assert.deepEqual([api.count('patch', 'nodes') - patches, api.count('get', 'nodes') - gets], [5, 4]);
    assert.match(JSON.stringify(stored()), /KubeletHasDiskPressure/);
    await end();
  });

  it('gives a cycle up after five tries, says so, and tries again in the next', async () => {
    await clock.advance(1_000);
    health.setCondition('DiskPressure', true);
    api.fail('patch', 'nodes', 'unavailable', 5);
    await publisher.publish(life.signal);
    assert.equal(logger.lines.at(-1)?.message, 'update node status exceeds retry count');
    await clock.advance(10_400);
    assert.match(JSON.stringify(stored()), /KubeletHasDiskPressure/);
    await end();
  });
});
