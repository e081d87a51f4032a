import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import {
  configAnnotations,
  isCriticalPod,
  isMirrorOf,
  isMirrorPod,
  isStaticPod,
  systemCriticalPriority,
} from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-manager.ts';

function aPod(uid: string, annotations: Readonly<Record<string, string>> = {}, name = 'web'): Pod {
  return { metadata: { name, namespace: 'default', uid, annotations } };
}

const aStatic = (uid: string, name?: string): Pod =>
  aPod(uid, { [configAnnotations.source]: 'file', [configAnnotations.hash]: uid }, name);
const aMirror = (uid: string, hash: string, name?: string): Pod =>
  aPod(uid, { [configAnnotations.source]: 'api', [configAnnotations.mirror]: hash }, name);
const uids = (pods: Iterable<Pod>): readonly unknown[] => [...pods].map((pod) => pod.metadata.uid);

function managerOf(...pods: readonly Pod[]): PodManager {
  const manager = new PodManager();
  for (const pod of pods) manager.add(pod);
  return manager;
}

describe('the pod manager of a kubelet', () => {
  it('keeps pods and their mirrors apart', () => {
    const manager = managerOf(
      aStatic('s'),
      aMirror('m', 's'),
      aPod('p', { [configAnnotations.source]: 'api' }, 'shop'),
    );
    assert.deepEqual([manager.size, uids(manager.all()), uids(manager.mirrors())], [2, ['s', 'p'], ['m']]);
    assert.equal(manager.podByUid('m'), undefined);
    assert.equal(manager.mirrorByUid('m')?.metadata.uid, 'm');
    assert.equal(manager.mirrorOf(aStatic('s'))?.metadata.uid, 'm');
    assert.equal(manager.podOfMirror(aMirror('m', 's'))?.metadata.uid, 's');
  });

  it('translates between the uids of a static pod and its mirror, whichever was added first', () => {
    for (const order of [
      [aStatic('s'), aMirror('m', 's')],
      [aMirror('m', 's'), aStatic('s')],
    ]) {
      const manager = managerOf(...order);
      assert.deepEqual([manager.translate('m'), manager.translate('s'), manager.translate('x')], ['s', 's', 'x']);
      assert.deepEqual([manager.apiUid('s'), manager.apiUid('x')], ['m', 'x']);
    }
  });

  it('has no API uid for a static pod without a mirror', () => {
    const manager = managerOf(aStatic('s'), aPod('p', { [configAnnotations.source]: 'api' }, 'shop'));
    assert.deepEqual([manager.apiUid('s'), manager.apiUid('p')], ['', 'p']);
    manager.add(aMirror('m', 's'));
    assert.equal(manager.apiUid('s'), 'm');
    manager.remove(aMirror('m', 's'));
    assert.equal(manager.apiUid('s'), '');
  });

  it('translates the uid of a mirror as long as it exists, even without its pod', () => {
    const manager = managerOf(aStatic('old'), aMirror('m', 'old'));
    manager.remove(aStatic('old'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('old')], ['old', 'm']);
    manager.add(aStatic('new'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('new')], ['new', 'm']);
    assert.equal(manager.apiUid('old'), 'old', 'the mirror belongs to another pod now');
    manager.remove(aStatic('new'));
    manager.remove(aMirror('m', 'old'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('new')], ['m', 'new']);
  });

  it('replaces pods by uid', () => {
    const manager = managerOf(aPod('p'), aPod('p', { note: 'new' }));
    assert.equal(manager.podByUid('p')?.metadata.annotations?.['note'], 'new');
    assert.equal(manager.podOfMirror(aMirror('m', ''))?.metadata.annotations?.['note'], 'new');
    assert.equal(manager.size, 1);
  });

  it('keeps a name when an older pod of the same name is removed later', () => {
    const manager = managerOf(aStatic('old'), aStatic('new'));
    manager.remove(aStatic('old'));
    assert.equal(manager.podOfMirror(aMirror('m', ''))?.metadata.uid, 'new');
    manager.add(aMirror('m1', 'old'));
    manager.add(aMirror('m2', 'new'));
    manager.remove(aMirror('m1', 'old'));
    assert.equal(manager.apiUid('new'), 'm2');
    manager.remove(aStatic('new'));
    assert.equal(manager.podOfMirror(aMirror('m', '')), undefined);
  });

  it('lists orphans: mirrors without a static pod', () => {
    const manager = managerOf(aStatic('s'), aMirror('m', 's'), aMirror('o', 'x', 'gone'));
    assert.deepEqual(uids(manager.orphanMirrors()), ['o']);
    manager.remove(aStatic('s'));
    assert.deepEqual(uids(manager.orphanMirrors()), ['m', 'o']);
  });
});

describe('the classification of pods', () => {
  it('follows from annotations and priority', () => {
    const plain = aPod('p', { [configAnnotations.source]: 'api' });
    const urgent: Pod = { ...plain, spec: { priority: systemCriticalPriority } };
    const high: Pod = { ...plain, spec: { priority: systemCriticalPriority - 1 } };
    const kinds = (pod: Pod) => [isStaticPod(pod), isMirrorPod(pod), isCriticalPod(pod)];
    assert.deepEqual(kinds(plain), [false, false, false]);
    assert.deepEqual(kinds(high), [false, false, false]);
    assert.deepEqual(kinds(urgent), [false, false, true]);
    assert.deepEqual(kinds(aStatic('s')), [true, false, true]);
    assert.deepEqual(kinds(aMirror('m', 's')), [false, true, true]);
    assert.deepEqual(kinds(aPod('p')), [false, false, false], 'a pod without a source');
  });

  it('matches a mirror to its pod by name and hash', () => {
    assert.equal(isMirrorOf(aMirror('m', 's'), aStatic('s')), true);
    assert.equal(isMirrorOf(aMirror('m', 'old'), aStatic('s')), false);
    assert.equal(isMirrorOf(aMirror('m', 's', 'shop'), aStatic('s')), false);
  });
});
