import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { buildMachine } from '../../../../../src/hollow-cluster/kubelet/fleet/build-machine.ts';
import type { MachineImage } from '../../../../../src/hollow-cluster/kubelet/profile.ts';
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

  for (const kind of ['v1.36', 'v1.8'] as const) {
    const events = kind === 'v1.36' ? 1 : 3;
    it(`records ${events} Rebooted events of a ${kind} kubelet when the patch fails twice [B15]`, async () => {
      await settled({ profile: { kind } });
      world.side.machine.reboot();
      world.api.fail('patch', 'nodes', 'internal', 2);
      await world.clock.advance(cycleMs);
      const reboots = world.recorder.drafts.filter(({ reason }) => reason === 'Rebooted');
      assert.equal(reboots.length, events);
      assert.deepEqual(reboots[0], {
        about: { kind: 'Node', name: 'n1', uid: 'n1' },
        type: 'Warning',
        reason: 'Rebooted',
        message: 'Node n1 has been rebooted, boot id: boot-n1-2',
      });
      assert.equal(world.node()?.status?.nodeInfo?.['bootID'], 'boot-n1-2');
      await world.clock.advance(cycleMs);
      assert.equal(world.recorder.drafts.filter(({ reason }) => reason === 'Rebooted').length, events);
    });
  }

  const images: readonly MachineImage[] = Array.from({ length: 60 }, (_, index) => ({
    digests: [`image-${index}@sha256:1`, `image-${index}@sha256:2`],
    tags: [1, 2, 3, 4, 5].map((tag) => `image-${index}:${tag}`),
    sizeBytes: 1_000 * (index + 1),
  }));

  it('lists the fifty largest images, with five names each, or all if so configured [B16]', async () => {
    await settled({ machine: { ...buildMachine(0), images } });
    const reported = world.node()?.status?.images ?? [];
    assert.equal(reported.length, 50);
    assert.deepEqual([reported[0]?.sizeBytes, reported[49]?.sizeBytes], [60_000, 11_000]);
    assert.deepEqual(reported[0]?.names, [
      'image-59@sha256:1',
      'image-59@sha256:2',
      'image-59:1',
      'image-59:2',
      'image-59:3',
    ]);
    await world.stop();
    await settled({ machine: { ...buildMachine(0), images }, profile: { nodeStatusMaxImages: -1 } });
    assert.equal(world.node()?.status?.images?.length, 60);
  });

  it('lists no images when they cannot be read, and sets everything else', async () => {
    await settled({ machine: { ...buildMachine(0), images } });
    world.side.machine.fail('images');
    await world.clock.advance(cycleMs);
    assert.equal(world.node()?.status?.images, undefined);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('lists both addresses of a machine with two, and keeps the stored ones when they cannot be read', async () => {
    await settled({ machine: { ...buildMachine(0), secondAddress: 'fd00::1' } });
    const addresses = world.node()?.status?.addresses;
    const seen = addresses?.map(({ type, address }) => `${type}=${address}`);
    assert.deepEqual(seen, ['InternalIP=10.64.0.0', 'InternalIP=fd00::1', 'Hostname=n1']);
    world.side.machine.fail('addresses');
    world.side.machine.addresses = [{ type: 'InternalIP', address: '10.0.0.9' }];
    await world.clock.advance(cycleMs);
    assert.deepEqual(world.node()?.status?.addresses, addresses);
  });

  it('reports allocatable after reservations and huge pages', async () => {
    const machine = {
      ...buildMachine(0),
      reserved: { cpu: 0.5, memory: 1_024, 'ephemeral-storage': 200 * 1_024 },
      hugePages: { 'hugepages-2Mi': 512 },
    };
    await settled({ machine, profile: { podsPerCore: 10 } });
    assert.deepEqual(world.node()?.status?.capacity, {
      cpu: '8',
      'ephemeral-storage': '100Gi',
      memory: '32Gi',
      pods: '80',
      'hugepages-2Mi': '512Mi',
    });
    assert.deepEqual(world.node()?.status?.allocatable, {
      cpu: '7500m',
      'ephemeral-storage': '0',
      memory: '31232Mi',
      pods: '80',
      'hugepages-2Mi': '512Mi',
    });
  });

  it('reports devices while their plugin exists, and 0 after that', async () => {
    await settled();
    world.side.machine.setExtendedResource('example.com/gpu', { capacity: 4, allocatable: 3 });
    await world.edit({ status: { allocatable: { 'example.com/gone': '1' } } });
    await world.clock.advance(cycleMs);
    const resource = (map: 'capacity' | 'allocatable', name: string) => world.node()?.status?.[map]?.[name];
    assert.deepEqual([resource('capacity', 'example.com/gpu'), resource('allocatable', 'example.com/gpu')], ['4', '3']);
    assert.equal(resource('allocatable', 'example.com/gone'), undefined, 'no plugin reports it');
    world.side.machine.setExtendedResource('example.com/gpu', undefined);
    await world.clock.advance(cycleMs);
    assert.equal(resource('capacity', 'example.com/gpu'), '0');
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

  it('reports versions, and Unknown for a runtime version that cannot be read', async () => {
    await settled({
      machine: { ...buildMachine(0), features: { supplementalGroupsPolicy: true }, declaredFeatures: ['x'] },
    });
    world.side.machine.fail('runtime-version');
    await world.clock.advance(cycleMs);
    const { nodeInfo, features, declaredFeatures, daemonEndpoints } = world.node()?.status ?? {};
    assert.equal(nodeInfo?.['containerRuntimeVersion'], 'hollow://Unknown');
    assert.deepEqual([nodeInfo?.['operatingSystem'], nodeInfo?.['architecture']], ['linux', 'amd64']);
    assert.deepEqual([features, declaredFeatures], [{ supplementalGroupsPolicy: true }, ['x']]);
    assert.deepEqual(daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
  });

  it('starts with a Starting event about the node by its name', async () => {
    world = new NodeWorld({ profile: { nodeEventUid: 'none' } });
    await world.startFor(0);
    assert.deepEqual(world.recorder.drafts[0], {
      about: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
      type: 'Normal',
      reason: 'Starting',
      message: 'Starting kubelet.',
    });
  });
});
