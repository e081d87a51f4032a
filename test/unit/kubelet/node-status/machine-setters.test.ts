import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import type { MachineImage } from '../../../../src/kubelet/profile.ts';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { NodeWorld, type NodeWorldOptions } from './node-world.ts';

const cycleMs = 10_400;

describe('what a node says of its machine', () => {
  let world: NodeWorld;

  afterEach(async () => {
    await world.stop();
  });

  async function settled(options: NodeWorldOptions = {}): Promise<NodeWorld> {
    world = new NodeWorld(options);
    await world.settle();
    return world;
  }

  async function begin(options: NodeWorldOptions): Promise<void> {
    await settled(options);
  }

  for (const [kind, events] of [
    ['modern', 1],
    ['classic', 3],
  ] as const) {
    it(`is that it was rebooted, of a ${kind} kubelet ${events} times when the patch fails twice [B15]`, async () => {
      await settled({ profile: { kind } });
      world.side.machine.reboot();
      world.api.fail('patch', 'nodes', 'internal', 2);
      await world.clock.advance(cycleMs);
      const told = world.recorder.drafts.filter(({ reason }) => reason === 'Rebooted');
      assert.equal(told.length, events);
      assert.deepEqual(told[0], {
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

  it('are the fifty largest of its images, with five names each, or all if so configured [B16]', async () => {
    await begin({ machine: { ...deriveMachine(0), images } });
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
    await begin({ machine: { ...deriveMachine(0), images }, profile: { nodeStatusMaxImages: -1 } });
    assert.equal(world.node()?.status?.images?.length, 60);
  });

  it('are no images when they cannot be listed, and the others all the same', async () => {
    await begin({ machine: { ...deriveMachine(0), images } });
    world.side.machine.fail('images');
    await world.clock.advance(cycleMs);
    assert.equal(world.node()?.status?.images, undefined);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('are two addresses of a machine that has two, and those it had when it cannot tell', async () => {
    await begin({ machine: { ...deriveMachine(0), secondAddress: 'fd00::1' } });
    const addresses = world.node()?.status?.addresses;
    assert.deepEqual(
      addresses?.map(({ type, address }) => `${type}=${address}`),
      ['InternalIP=10.64.0.0', 'InternalIP=fd00::1', 'Hostname=n1'],
    );
    world.side.machine.fail('addresses');
    world.side.machine.setAddresses([{ type: 'InternalIP', address: '10.0.0.9' }]);
    await world.clock.advance(cycleMs);
    assert.deepEqual(world.node()?.status?.addresses, addresses);
  });

  it('is what is left for pods after reservations and huge pages', async () => {
    const machine = {
      ...deriveMachine(0),
      reserved: { cpu: 0.5, memory: 1_024, 'ephemeral-storage': 200 * 1_024 },
      hugePages: { 'hugepages-2Mi': 512 },
    };
    await begin({ machine, profile: { podsPerCore: 10 } });
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

  it('are devices while their plugin is there, and none of them after', async () => {
    await settled();
    world.side.machine.setExtendedResource('example.com/gpu', { capacity: 4, allocatable: 3 });
    await world.edit({ status: { allocatable: { 'example.com/gone': '1' } } });
    await world.clock.advance(cycleMs);
    const resource = (map: 'capacity' | 'allocatable', name: string) => world.node()?.status?.[map]?.[name];
    assert.deepEqual([resource('capacity', 'example.com/gpu'), resource('allocatable', 'example.com/gpu')], ['4', '3']);
    assert.equal(resource('allocatable', 'example.com/gone'), undefined, 'nobody has any');
    world.side.machine.setExtendedResource('example.com/gpu', undefined);
    await world.clock.advance(cycleMs);
    assert.equal(resource('capacity', 'example.com/gpu'), '0');
  });

  it('is written when it changes, and not when only the text of a quantity differs', async () => {
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

  it('are versions, but for what the runtime does not tell', async () => {
    await begin({
      machine: { ...deriveMachine(0), features: { supplementalGroupsPolicy: true }, declaredFeatures: ['x'] },
    });
    world.side.machine.fail('runtime-version');
    await world.clock.advance(cycleMs);
    const { nodeInfo, features, declaredFeatures, daemonEndpoints } = world.node()?.status ?? {};
    assert.equal(nodeInfo?.['containerRuntimeVersion'], 'hollow://Unknown');
    assert.deepEqual([nodeInfo?.['operatingSystem'], nodeInfo?.['architecture']], ['linux', 'amd64']);
    assert.deepEqual([features, declaredFeatures], [{ supplementalGroupsPolicy: true }, ['x']]);
    assert.deepEqual(daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
  });

  it('begins with a word to everybody, about the node by its name', async () => {
    world = new NodeWorld({ profile: { nodeEventUid: 'none' } });
    world.start();
    await world.clock.advance(0);
    assert.deepEqual(world.recorder.drafts[0], {
      about: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
      type: 'Normal',
      reason: 'Starting',
      message: 'Starting kubelet.',
    });
  });
});
