import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import { diskMountPressure } from '../../../../src/kubelet/node-status/disk-mount-pressure.ts';
import type { StatusSetter } from '../../../../src/kubelet/node-status/setter-context.ts';
import { statusSetters } from '../../../../src/kubelet/node-status/status-setters.ts';
import { KeepingMeter } from '../../../support/quiet.ts';
import { NodeWorld, type NodeWorldOptions } from './node-world.ts';

function withCondition(node: Node, type: string): Node {
  const conditions = [...(node.status?.conditions ?? []), { type, status: 'True' }];
  return { ...node, status: { ...node.status, conditions } };
}

describe('the chain of status setters', () => {
  async function composed(options: NodeWorldOptions = {}, prepare: (world: NodeWorld) => void = () => {}) {
    const world = new NodeWorld(options);
    prepare(world);
    world.start();
    await world.clock.advance(5_000);
    await world.stop();
    return world;
  }

  const types = (world: NodeWorld) => world.conditions().map(({ type }) => type);

  it('appends the conditions in their order, those of others before Ready', async () => {
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

  it('puts a setter before the one that it names, and refuses one before nobody', () => {
    const early: StatusSetter = { name: 'Early', before: 'MachineInfo', set: (node) => node };
    const names = statusSetters('modern', [early]).map(({ name }) => name);
    assert.deepEqual(names.slice(0, 3), ['NodeAddress', 'Early', 'MachineInfo']);
    assert.throws(() => statusSetters('modern', [{ ...early, before: 'Nobody' }]), /no status setter.*Nobody/);
  });

  it('goes on past a setter that throws: the patch is sent, the failure is logged [B12]', async () => {
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

  it('waits for a slow setter so long and no longer, and measures it', async () => {
    const meter = new KeepingMeter();
    const world = new NodeWorld({
      meter,
      setters: [
        { name: 'Slow', set: (node) => world.clock.sleep(300, world.signal).then(() => withCondition(node, 'Slow')) },
        { name: 'Stuck', set: () => new Promise(() => {}) },
      ],
    });
    world.start();
    await world.clock.advance(10_000);
    assert.deepEqual(types(world), ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Slow', 'Ready']);
    const name = 'hollow_kubelet_status_setter_duration_seconds';
    assert.ok((meter.series.get(`${name}{setter="Slow"}`) ?? 0) >= 0.3);
    assert.ok((meter.series.get(`${name}{setter="Stuck"}`) ?? 0) >= 1);
    await world.stop();
  });

  it('has OutOfDisk first and no PIDPressure in a kubelet of old, and no OutOfDisk in a new one [B21]', async () => {
    const old = await composed({ profile: { kind: 'classic' } });
    assert.deepEqual(types(old), ['OutOfDisk', 'MemoryPressure', 'DiskPressure', 'Ready']);
    const [outOfDisk] = old.conditions();
    assert.deepEqual(
      [outOfDisk?.status, outOfDisk?.reason, outOfDisk?.message],
      ['False', 'KubeletHasSufficientDisk', 'kubelet has sufficient disk space available'],
    );
    assert.ok(old.events().includes('NodeHasSufficientDisk'));
    assert.ok(!types(await composed()).includes('OutOfDisk'));
  });

  it('adds DiskMountPressure before Ready while a mount is too full, with one event [B13]', async () => {
    const setters = [diskMountPressure({ mounts: ['/data', '/scratch'], thresholdPercent: 95 })];
    const world = await composed({ setters }, ({ side }) => side.machine.setMountUsage('/data', 96));
    assert.deepEqual(types(world).slice(-2), ['DiskMountPressure', 'Ready']);
    const condition = world.condition('DiskMountPressure');
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['True', 'KubeletHasDiskMountPressure', 'kubelet has disk mount pressure'],
    );
    const told = world.recorder.drafts.filter(({ reason }) => reason.includes('DiskMount'));
    // One for the node that was registered; none for those that were only reported.
    assert.deepEqual(
      told.map(({ message }) => message),
      ['Node n1 status is now: NodeHasDiskMountPressure'],
    );
  });

  it('holds DiskMountPressure for as long as the other pressures after its end', async () => {
    const world = new NodeWorld({ setters: [diskMountPressure({ mounts: ['/data'], thresholdPercent: 95 })] });
    await world.settle();
    world.side.machine.setMountUsage('/data', 95);
    await world.clock.advance(10_000);
    assert.equal(world.condition('DiskMountPressure')?.status, 'True');
    world.side.machine.setMountUsage('/data', 94);
    await world.clock.advance(285_000);
    assert.equal(world.condition('DiskMountPressure')?.status, 'True');
    await world.clock.advance(30_000);
    assert.equal(world.condition('DiskMountPressure')?.reason, 'KubeletHasNoDiskMountPressure');
    await world.stop();
  });
});
