import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import {
  memoryQuantity,
  storageQuantity,
} from '../../../../../src/hollow-cluster/kubelet/node-status/status-setters.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import { NodeWorld, type NodeWorldOptions } from '../../../../support/node-world.ts';

const cycleMs = 10_400;

describe('the machine part of a node status', () => {
  let world: NodeWorld;

  afterEach(() => world.stop());

  async function settled(options: NodeWorldOptions = {}): Promise<NodeWorld> {
    world = new NodeWorld(options);
    await world.settle();
    return world;
  }

  it('records one Rebooted event when the patch fails twice [B15]', async () => {
    await settled();
    world.side.machine.reboot();
    world.api.fail('patch', 'nodes', 'internal', 2);
    await world.clock.advance(cycleMs);
    const reboots = (): readonly unknown[] => world.recorder.drafts.filter(({ reason }) => reason === 'Rebooted');
    assert.deepEqual(reboots(), [
      {
        about: { kind: 'Node', name: 'n1', uid: world.node()?.metadata.uid, apiVersion: 'v1' },
        type: 'Warning',
        reason: 'Rebooted',
        message: 'Node n1 has been rebooted, boot id: boot-n1-2',
      },
    ]);
    assert.equal(world.node()?.status?.nodeInfo?.bootID, 'boot-n1-2');
    await world.clock.advance(cycleMs);
    assert.equal(reboots().length, 1);
  });

  it('has its address, and capacity that is all allocatable, beside that of other clients', async () => {
    await settled();
    await world.edit({ status: { capacity: { 'example.com/gpu': '2' } } });
    await world.clock.advance(cycleMs);
    const { addresses, capacity, allocatable, nodeInfo, daemonEndpoints } = world.node()?.status ?? {};
    assert.deepEqual(
      addresses?.map(({ type, address }) => `${type}=${address}`),
      ['InternalIP=10.64.0.0', 'Hostname=n1'],
    );
    assert.deepEqual(capacity, allocatable);
    assert.deepEqual([capacity?.['cpu'], capacity?.['memory'], capacity?.['example.com/gpu']], ['8', '32Gi', '2']);
    assert.equal(capacity?.['ephemeral-storage'], '107374182400');
    assert.deepEqual([nodeInfo?.operatingSystem, nodeInfo?.['architecture']], ['linux', 'amd64']);
    assert.equal(nodeInfo?.['runningInUserNamespace'], false);
    assert.deepEqual(daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
  });

  it('is not written again for a field that an older API server drops', async () => {
    await settled();
    await world.edit({ status: { nodeInfo: { runningInUserNamespace: null } } });
    assert.equal(world.node()?.status?.nodeInfo?.['runningInUserNamespace'], undefined);
    await world.clock.advance(3 * cycleMs);
    assert.deepEqual(world.verbs('nodes'), []);
  });

  it('appends the conditions in order, forced ones before Ready', async () => {
    world = new NodeWorld();
    world.side.machine.setCondition('Flooded', true);
    await world.startFor(5_000);
    const types = world.conditions().map(({ type }) => type);
    assert.deepEqual(types, ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Flooded', 'Ready']);
  });

  it('is written when it changes, but not when only the notation of a quantity differs', async () => {
    await settled();
    await world.edit({ status: { capacity: { cpu: '8000m' } } });
    await world.clock.advance(cycleMs);
    assert.deepEqual(world.verbs('nodes'), []);
    world.side.machine.change({ cpuCores: 4 });
    await world.clock.advance(cycleMs);
    const patch = world.api.requests.find(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    const { capacity, allocatable } = (patch?.body as Node | undefined)?.status ?? {};
    assert.deepEqual([capacity, allocatable], [{ cpu: '4' }, { cpu: '4' }]);
  });
});

describe('quantities of the machine', () => {
  it('of memory have the shortest exact form', () => {
    assert.equal(memoryQuantity(0), '0');
    assert.equal(memoryQuantity(1_000), '1000Mi');
    assert.equal(memoryQuantity(32 * 1_024), '32Gi');
    assert.equal(memoryQuantity(1_024 ** 4), '1Ei');
  });

  it('of ephemeral storage are bytes, with powers of 1000 as on the wire', () => {
    assert.equal(storageQuantity(0), '0');
    assert.equal(storageQuantity(10_240), '10737418240');
    assert.equal(storageQuantity(1_000), '1048576k');
  });
});
