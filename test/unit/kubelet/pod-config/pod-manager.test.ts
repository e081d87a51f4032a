import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import {
  configAnnotations,
  isCriticalPod,
  isMirrorOf,
  isMirrorPod,
  isStaticPod,
  systemCriticalPriority,
} from '../../../../src/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../src/kubelet/pod-config/pod-manager.ts';

function aPod(uid: string, annotations: Readonly<Record<string, string>> = {}, name = 'web'): Pod {
  return { metadata: { name, namespace: 'default', uid, annotations } };
}

const aStatic = (uid: string, name?: string): Pod =>
  aPod(uid, { [configAnnotations.source]: 'file', [configAnnotations.hash]: uid }, name);
const aMirror = (uid: string, hash: string, name?: string): Pod =>
  aPod(uid, { [configAnnotations.source]: 'api', [configAnnotations.mirror]: hash }, name);
const uids = (pods: Iterable<Pod>): readonly unknown[] => [...pods].map((pod) => pod.metadata.uid);

describe('the pods that a kubelet knows', () => {
  it('are kept apart from the mirrors that show them', () => {
    const manager = new PodManager();
    manager.add(aStatic('s'));
    manager.add(aMirror('m', 's'));
    manager.add(aPod('p', { [configAnnotations.source]: 'api' }, 'shop'));
    assert.deepEqual([manager.size, uids(manager.all()), uids(manager.mirrors())], [2, ['s', 'p'], ['m']]);
    assert.equal(manager.podByUid('m'), undefined);
    assert.equal(manager.mirrorByUid('m')?.metadata.uid, 'm');
    assert.equal(manager.podByFullName('web_default')?.metadata.uid, 's');
    assert.equal(manager.mirrorByFullName('web_default')?.metadata.uid, 'm');
    assert.equal(manager.mirrorOf(aStatic('s'))?.metadata.uid, 'm');
    assert.equal(manager.podOfMirror(aMirror('m', 's'))?.metadata.uid, 's');
  });

  it('translate between the uid of a static pod and that of its mirror, whichever came first', () => {
    for (const order of [
      [aStatic('s'), aMirror('m', 's')],
      [aMirror('m', 's'), aStatic('s')],
    ]) {
      const manager = new PodManager();
      for (const pod of order) manager.add(pod);
      assert.deepEqual([manager.translate('m'), manager.translate('s'), manager.translate('x')], ['s', 's', 'x']);
      assert.deepEqual([manager.apiUid('s'), manager.apiUid('x')], ['m', 'x']);
    }
  });

  it('have nowhere to write the status of a static pod without a mirror', () => {
    const manager = new PodManager();
    manager.add(aStatic('s'));
    manager.add(aPod('p', { [configAnnotations.source]: 'api' }, 'shop'));
    assert.deepEqual([manager.apiUid('s'), manager.apiUid('p')], ['', 'p']);
    manager.add(aMirror('m', 's'));
    assert.equal(manager.apiUid('s'), 'm');
    manager.remove(aMirror('m', 's'));
    assert.equal(manager.apiUid('s'), '');
  });

  it('are known by their mirror for as long as it is there, whether or not they are', () => {
    const manager = new PodManager();
    manager.add(aStatic('old'));
    manager.add(aMirror('m', 'old'));
    manager.remove(aStatic('old'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('old')], ['old', 'm']);
    manager.add(aStatic('new'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('new')], ['new', 'm']);
    assert.equal(manager.apiUid('old'), 'old', 'it shows another one now');
    manager.remove(aStatic('new'));
    manager.remove(aMirror('m', 'old'));
    assert.deepEqual([manager.translate('m'), manager.apiUid('new')], ['m', 'new']);
  });

  it('are replaced by their uid', () => {
    const manager = new PodManager();
    manager.add(aPod('p'));
    manager.update(aPod('p', { note: 'new' }));
    assert.equal(manager.podByUid('p')?.metadata.annotations?.['note'], 'new');
    assert.equal(manager.podByFullName('web_default')?.metadata.annotations?.['note'], 'new');
    assert.equal(manager.size, 1);
  });

  it('keep their name when one of the same name leaves late', () => {
    const manager = new PodManager();
    manager.add(aStatic('old'));
    manager.add(aStatic('new'));
    manager.remove(aStatic('old'));
    assert.equal(manager.podByFullName('web_default')?.metadata.uid, 'new');
    manager.add(aMirror('m1', 'old'));
    manager.add(aMirror('m2', 'new'));
    manager.remove(aMirror('m1', 'old'));
    assert.equal(manager.apiUid('new'), 'm2');
    manager.remove(aStatic('new'));
    assert.equal(manager.podByFullName('web_default'), undefined);
  });

  it('leave orphans behind: mirrors that show nothing', () => {
    const manager = new PodManager();
    manager.add(aStatic('s'));
    manager.add(aMirror('m', 's'));
    manager.add(aMirror('o', 'x', 'gone'));
    assert.deepEqual(uids(manager.orphanMirrors()), ['o']);
    manager.remove(aStatic('s'));
    assert.deepEqual(uids(manager.orphanMirrors()), ['m', 'o']);
  });
});

describe('what kind of pod it is', () => {
  it('follows from its annotations and its priority', () => {
    const plain = aPod('p', { [configAnnotations.source]: 'api' });
    const urgent: Pod = { ...plain, spec: { priority: systemCriticalPriority } };
    const high: Pod = { ...plain, spec: { priority: systemCriticalPriority - 1 } };
    const kinds = (pod: Pod) => [isStaticPod(pod), isMirrorPod(pod), isCriticalPod(pod)];
    assert.deepEqual(kinds(plain), [false, false, false]);
    assert.deepEqual(kinds(high), [false, false, false]);
    assert.deepEqual(kinds(urgent), [false, false, true]);
    assert.deepEqual(kinds(aStatic('s')), [true, false, true]);
    assert.deepEqual(kinds(aMirror('m', 's')), [false, true, true]);
    assert.deepEqual(kinds(aPod('p')), [false, false, false], 'one that came through no source');
  });

  it('is a mirror of another where name and hash agree', () => {
    assert.equal(isMirrorOf(aMirror('m', 's'), aStatic('s')), true);
    assert.equal(isMirrorOf(aMirror('m', 'old'), aStatic('s')), false);
    assert.equal(isMirrorOf(aMirror('m', 's', 'shop'), aStatic('s')), false);
  });
});
