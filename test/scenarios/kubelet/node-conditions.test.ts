import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { heartbeatConditionTypes, stoppedPosting } from '../../../src/machinery/api/conditions.ts';
import { NodeWorld, type NodeWorldOptions } from '../../support/node-world.ts';

const secondMs = 1_000;

describe('the conditions of a node', () => {
  let world: NodeWorld;

  afterEach(() => world.stop());

  async function settled(options: NodeWorldOptions = {}): Promise<NodeWorld> {
    world = new NodeWorld(options);
    await world.settle();
    return world;
  }

  /** As a node lifecycle controller does when a node's heartbeats have stopped. */
  function markUnknown(): Promise<void> {
    const conditions = heartbeatConditionTypes.map((type) => ({ type, status: 'Unknown', ...stoppedPosting }));
    return world.edit({ status: { conditions } });
  }

  it('are corrected in one patch after a controller set them to Unknown, each with its Event [B6]', async () => {
    await settled();
    await markUnknown();
    await world.clock.advance(10.4 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch']);
    assert.deepEqual(world.events(), [
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
    ]);
    const ready = world.condition('Ready');
    assert.deepEqual([ready?.status, ready?.lastTransitionTime], ['True', ready?.lastHeartbeatTime]);
  });

  it('keep a message that another client set on a pressure condition, but not one on Ready [B7]', async () => {
    await settled();
    await world.edit({ status: { conditions: [{ type: 'MemoryPressure', message: 'edited' }] } });
    await world.edit({ status: { conditions: [{ type: 'Ready', message: 'edited' }] } });
    await world.clock.advance(10.4 * secondMs);
    assert.equal(world.condition('Ready')?.message, 'kubelet is posting ready status');
    await world.clock.advance(600 * secondMs);
    assert.equal(world.condition('MemoryPressure')?.message, 'edited');
  });

  it('report in every cycle for how long PLEG has not been active [B8]', async () => {
    const relistedAtMs = { value: 0 };
    const problem = (nowMs: number): string | undefined => {
      const silentMs = nowMs - relistedAtMs.value;
      return silentMs < 180_000
        ? undefined
        : `pleg was last seen active 3m${Math.round(silentMs / 1_000) - 180}s ago; threshold is 3m0s`;
    };
    world = new NodeWorld({ healthChecks: [{ name: 'PLEG', problem }] });
    relistedAtMs.value = world.clock.monotonicMs();
    await world.settle();
    await world.clock.advance(180 * secondMs);
    const ready = world.condition('Ready');
    assert.equal(ready?.status, 'False');
    assert.match(
      ready?.message ?? '',
      /^PLEG is not healthy: pleg was last seen active 3m\d+s ago; threshold is 3m0s$/,
    );
    world.forget();
    await world.clock.advance(50 * secondMs);
    assert.equal(world.times('patch', 'nodes').length, 5, 'the message changes each time');
  });

  it('report the runtime down 30 s after its last successful check [B9]', async () => {
    world = new NodeWorld();
    // The first successful check is at 2 s, so that one of the following checks, every 5 s, is at 97.
    world.runtime.says('hanging');
    await world.startFor(2_000);
    world.runtime.recovers();
    await world.clock.advance(98_000);
    world.runtime.says('silent');
    await world.clock.advance(26_900);
    assert.deepEqual(world.side.runtime.runtimeErrors(), [], 'last successful check 29.9 s ago');
    await world.clock.advance(200);
    assert.deepEqual(world.side.runtime.runtimeErrors(), ['container runtime is down']);
    await world.clock.advance(10.4 * secondMs);
    assert.equal(world.condition('Ready')?.message, 'container runtime is down');
    world.runtime.recovers();
    await world.clock.advance(5 * secondMs);
    assert.deepEqual(world.side.runtime.runtimeErrors(), []);
    await world.clock.advance(10.4 * secondMs);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('report the runtime down when it hangs', async () => {
    await settled();
    world.runtime.says('hanging');
    await world.clock.advance(45 * secondMs);
    assert.equal(world.condition('Ready')?.message, 'container runtime is down');
    world.runtime.recovers();
    await world.clock.advance(10.4 * secondMs);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it("report a runtime network that is not ready with upstream's exact message [B10]", async () => {
    await settled();
    const network = { ok: false, reason: 'NetworkPluginNotReady', message: 'cni config uninitialized' } as const;
    world.runtime.says({ runtime: { ok: true }, network });
    await world.clock.advance(15.4 * secondMs);
    assert.equal(
      world.condition('Ready')?.message,
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni config uninitialized',
    );
    assert.deepEqual(world.side.runtime.runtimeErrors(), [], 'the runtime itself is healthy');
  });

  it('report a runtime that is not ready, and after 30 s that it is down', async () => {
    await settled();
    const runtime = { ok: false, reason: 'Upgrading', message: 'wait' } as const;
    world.runtime.says({ runtime, network: undefined });
    await world.clock.advance(15.4 * secondMs);
    const notReady = 'container runtime not ready: RuntimeReady=false reason:Upgrading message:wait';
    assert.equal(world.condition('Ready')?.message, `[${notReady}, container runtime network not ready: nil]`);
    await world.clock.advance(30 * secondMs);
    assert.match(world.condition('Ready')?.message ?? '', /^\[container runtime is down, /);
  });

  it('list the problems once each, as upstream does [B11]', async () => {
    const healthChecks = [
      { name: 'a', problem: () => 'x' },
      { name: 'a', problem: () => 'x' },
      { name: 'b', problem: () => 'y' },
    ];
    await settled({ healthChecks });
    assert.equal(world.condition('Ready')?.message, '[a is not healthy: x, b is not healthy: y]');
  });

  it('of custom types keep their status when the node becomes unreachable [B14]', async () => {
    world = new NodeWorld();
    world.side.machine.setCondition('DiskMountPressure', true);
    await world.settle();
    world.client.cut();
    await markUnknown();
    await world.clock.advance(40 * secondMs);
    const seen = world.conditions().map(({ type, status }) => `${type}=${status}`);
    assert.deepEqual(seen, [
      'MemoryPressure=Unknown',
      'DiskPressure=Unknown',
      'PIDPressure=Unknown',
      'DiskMountPressure=True',
      'Ready=Unknown',
    ]);
  });
});
