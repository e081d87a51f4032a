import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NodeReference } from '../../../../../src/hollow-cluster/kubelet/node-status/node-reference.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import { NodeWorld } from '../../../../support/node-world.ts';

const withoutUid = { kind: 'Node', name: 'n1', apiVersion: 'v1' };

function nodeWith(uid: string): Node {
  return { metadata: { name: 'n1', uid } };
}

describe('the node in the Events of its kubelet', () => {
  it('has a uid once the kubelet has observed the node, and keeps it', () => {
    let listed: Node | 'frozen' | undefined;
    const reference = new NodeReference({ name: 'n1', nodes: { get: () => listed } });
    assert.deepEqual(reference.get(), withoutUid);
    listed = 'frozen';
    assert.deepEqual(reference.get(), withoutUid);
    listed = nodeWith('a');
    assert.deepEqual(reference.get(), { ...withoutUid, uid: 'a' });
    listed = nodeWith('b');
    assert.deepEqual(reference.get(), { ...withoutUid, uid: 'a' });
    listed = undefined;
    assert.deepEqual(reference.get(), { ...withoutUid, uid: 'a' });
  });

  it('is without a uid until it is registered; a restarted kubelet observes it at once', async () => {
    await using world = new NodeWorld();
    const uids = (): readonly unknown[] => world.recorder.drafts.map(({ reason, about }) => `${reason} ${about.uid}`);
    await world.startFor(5_000);
    const { uid } = world.node()?.metadata ?? {};
    assert.deepEqual(uids(), [
      'Starting undefined',
      'NodeHasSufficientMemory undefined',
      'NodeHasNoDiskPressure undefined',
      'NodeHasSufficientPID undefined',
      `NodeReady ${uid}`,
    ]);
    world.recorder.drafts.length = 0;
    await world.restartFor(5_000);
    assert.deepEqual(new Set(world.recorder.drafts.map(({ about }) => about.uid)), new Set([uid]));
  });
});
