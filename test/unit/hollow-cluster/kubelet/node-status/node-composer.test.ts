import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import { diskMountPressure } from '../../../../support/disk-mount-pressure.ts';
import type { StatusSetter } from '../../../../../src/hollow-cluster/kubelet/node-status/setter-context.ts';
import { statusSetters } from '../../../../../src/hollow-cluster/kubelet/node-status/status-setters.ts';
import { RecordingMeter } from '../../../../support/fakes.ts';
import { NodeWorld, type NodeWorldOptions } from '../../../../support/node-world.ts';

function withCondition(node: Node, type: string): Node {
  const conditions = [...(node.status?.conditions ?? []), { type, status: 'True' }];
  return { ...node, status: { ...node.status, conditions } };
}

describe('the chain of status setters', () => {
  async function composed(options: NodeWorldOptions = {}, prepare: (world: NodeWorld) => void = () => {}) {
    const world = new NodeWorld(options);
    prepare(world);
    await world.startFor(5_000);
    await world.stop();
    return world;
  }

  const types = (world: NodeWorld) => world.conditions().map(({ type }) => type);

  it('appends the conditions in order, custom ones before Ready', async () => {
    const gpu: StatusSetter = { name: 'GPU', set: (node) => withCondition(node, 'GPU') };
    const world = await composed({ setters: [gpu] }, ({ side }) => side.machine.setCondition('Flooded', true));
    assert.deepEqual(types(world).slice(0, 6), [
      'MemoryPressure',
      'DiskPressure',
      'PIDPressure',
      'Flooded',
      'GPU',
      'Ready',
    ]);
  });

  it('inserts a setter before the one that it names, and rejects an unknown name', () => {
    const early: StatusSetter = { name: 'Early', before: 'MachineInfo', set: (node) => node };
    const names = statusSetters('v1.36', [early]).map(({ name }) => name);
    assert.deepEqual(names.slice(0, 3), ['NodeAddress', 'Early', 'MachineInfo']);
    assert.throws(() => statusSetters('v1.36', [{ ...early, before: 'Unknown' }]), /status setter.*Unknown/);
  });

  it('continues after a setter that throws: the patch is sent, the error is logged [B12]', async () => {
    const broken: StatusSetter = {
      name: 'Broken',
      set() {
        throw new Error('no such sensor');
      },
    };
    const rejecting: StatusSetter = { name: 'Rejecting', set: () => Promise.reject(new Error('no such bus')) };
    const world = await composed({ setters: [broken, rejecting] });
    assert.equal(world.condition('Ready')?.status, 'True');
    const complaints = world.logger.lines
      .filter(({ level }) => level === 'error')
      .map(({ fields }) => fields['setter']);
    assert.deepEqual(new Set(complaints), new Set(['Broken', 'Rejecting']));
  });

  it('waits for an asynchronous setter up to its time limit, and measures it', async () => {
    const meter = new RecordingMeter();
    await using world: NodeWorld = new NodeWorld({
      meter,
      setters: [
        { name: 'Slow', set: (node) => world.clock.sleep(300, world.signal).then(() => withCondition(node, 'Slow')) },
        { name: 'Stuck', set: () => new Promise(() => {}) },
      ],
    });
    await world.startFor(10_000);
    assert.deepEqual(types(world), ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Slow', 'Ready']);
    const name = 'hollow_kubelet_status_setter_duration_seconds';
    assert.ok((meter.series.get(`${name}{setter="Slow"}`) ?? 0) >= 0.3);
    assert.ok((meter.series.get(`${name}{setter="Stuck"}`) ?? 0) >= 1);
  });

  it('has OutOfDisk first and no PIDPressure in v1.8, and no OutOfDisk in v1.36 [B21]', async () => {
    const old = await composed({ profile: { kind: 'v1.8' } });
    assert.deepEqual(types(old), ['OutOfDisk', 'MemoryPressure', 'DiskPressure', 'Ready']);
    const [outOfDisk] = old.conditions();
    const expected = ['False', 'KubeletHasSufficientDisk', 'kubelet has sufficient disk space available'];
    assert.deepEqual([outOfDisk?.status, outOfDisk?.reason, outOfDisk?.message], expected);
    assert.ok(old.events().includes('NodeHasSufficientDisk'));
    assert.ok(!types(await composed()).includes('OutOfDisk'));
  });

  it('adds DiskMountPressure before Ready while a mount is too full, with one Event [B13]', async () => {
    const setters = [diskMountPressure({ mounts: ['/data', '/scratch'], thresholdPercent: 95 })];
    const world = await composed({ setters }, ({ side }) => side.machine.setMountUsage('/data', 96));
    assert.deepEqual(types(world).slice(-2), ['DiskMountPressure', 'Ready']);
    const condition = world.condition('DiskMountPressure');
    const expected = ['True', 'KubeletHasDiskMountPressure', 'kubelet has disk mount pressure'];
    assert.deepEqual([condition?.status, condition?.reason, condition?.message], expected);
    const events = world.recorder.drafts.filter(({ reason }) => reason.includes('DiskMount'));
    // One for the registered node; none for those that were only composed.
    const messages = events.map(({ message }) => message);
    assert.deepEqual(messages, ['Node n1 status is now: NodeHasDiskMountPressure']);
  });

  it('holds DiskMountPressure for the transition period of the other pressures', async () => {
    await using world = new NodeWorld({ setters: [diskMountPressure({ mounts: ['/data'], thresholdPercent: 95 })] });
    await world.settle();
    world.side.machine.setMountUsage('/data', 95);
    await world.clock.advance(10_000);
    assert.equal(world.condition('DiskMountPressure')?.status, 'True');
    world.side.machine.setMountUsage('/data', 94);
    await world.clock.advance(285_000);
    assert.equal(world.condition('DiskMountPressure')?.status, 'True');
    await world.clock.advance(30_000);
    assert.equal(world.condition('DiskMountPressure')?.reason, 'KubeletHasNoDiskMountPressure');
  });
});
