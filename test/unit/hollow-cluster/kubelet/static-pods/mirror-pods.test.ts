import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manifestText } from '../../../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import type { ApiReason } from '../../../../../src/machinery/api/api-error.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { parseFilePod } from '../../../../../src/hollow-cluster/kubelet/static-pods/parse-static-pod.ts';
import { mergePods } from '../../../../../src/hollow-cluster/kubelet/pod-config/merge-pods.ts';
import { MirrorPods } from '../../../../../src/hollow-cluster/kubelet/static-pods/mirror-pods.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

const seenAt = '2026-11-21T06:52:07.283122428Z';
const name = { namespace: 'kube-system', name: 'stat-hollow-1' };
const key = 'kube-system/stat-hollow-1';

/** As the mux delivers it. */
function aStaticPod(image = 'img:1'): Pod {
  const document = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'stat', namespace: 'kube-system', labels: { app: 's' } },
    spec: { containers: [{ name: 'c', image }] },
  };
  const { digest } = manifestText;
  const result = parseFilePod(document, { nodeName: 'hollow-1', source: 'file', place: '/m/stat.yaml', digest });
  const pods = 'pods' in result ? result.pods : [];
  const [pod] = mergePods({ known: new Map(), source: 'file', pods, seenAt }).adds;
  assert.ok(pod !== undefined);
  return pod;
}

function aWorld() {
  const clock = new ManualClock();
  const api = new MemoryApi(clock);
  const logger = new RecordingLogger();
  const { signal } = new AbortController();
  let node: Node | undefined = { metadata: { name: 'hollow-1', uid: 'node-uid' } };
  const mirrors = new MirrorPods({ api, node: () => node, logger });
  const setNode = (next: Node | undefined): void => {
    node = next;
  };
  const stored = () => api.peek('pods', key) as Pod | undefined;
  const writes = () =>
    api.requests.filter(({ verb }) => verb !== 'get').map(({ verb, body }) => [verb, verb === 'delete' ? body : '']);
  const reconcile = (pod: Pod) => mirrors.reconcile(pod, stored(), signal);
  const errors = () => logger.lines.map(({ level, fields }) => `${level} ${String(fields['reason'])}`);
  return { api, mirrors, reconcile, setNode, stored, writes, errors, signal };
}

describe('mirrors of static pods', () => {
  it('are created like those of a real kubelet', async () => {
    const { api, mirrors, signal } = aWorld();
    const pod = aStaticPod();
    assert.equal(await mirrors.create(pod, signal), true);
    const hash = pod.metadata.uid ?? '';
    // Byte for byte what kubelet v1.37 was recorded to send, except for the hash.
    assert.deepEqual(api.requests[0]?.body, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'stat-hollow-1',
        namespace: 'kube-system',
        uid: hash,
        labels: { app: 's' },
        annotations: {
          'kubernetes.io/config.hash': hash,
          'kubernetes.io/config.mirror': hash,
          'kubernetes.io/config.seen': seenAt,
          'kubernetes.io/config.source': 'file',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'hollow-1', uid: 'node-uid', controller: true }],
      },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'img:1',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        nodeName: 'hollow-1',
        securityContext: {},
        schedulerName: 'default-scheduler',
        tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
        enableServiceLinks: true,
      },
      status: { phase: 'Pending' },
    });
  });

  it('are recreated at once after a deletion, owned by the current node [C21]', async () => {
    const { api, reconcile, setNode, stored, writes, signal } = aWorld();
    const pod = aStaticPod();
    await reconcile(pod);
    const first = stored()?.metadata.uid ?? '';
    await api.delete('pods', name, { uid: first, gracePeriodSeconds: 30, signal });
    assert.notEqual(stored()?.metadata.deletionTimestamp, undefined, 'the kubelet has to complete the deletion');
    setNode({ metadata: { name: 'hollow-1', uid: 'another-node-uid' } });
    api.requests.length = 0;
    await reconcile(pod);
    assert.deepEqual(writes(), [
      ['delete', { uid: first, gracePeriodSeconds: 0 }],
      ['create', ''],
    ]);
    assert.notEqual(stored()?.metadata.uid, first);
    assert.equal(stored()?.metadata.ownerReferences?.[0]?.uid, 'another-node-uid');
    await api.delete('pods', name, { uid: stored()?.metadata.uid ?? '', gracePeriodSeconds: 0, signal });
    await reconcile(pod);
    assert.notEqual(stored(), undefined, 'recreated after a forced deletion too');
    api.requests.length = 0;
    await reconcile(pod);
    assert.deepEqual(api.requests, [], 'no further requests');
  });

  it('are replaced when the pod changes', async () => {
    const { reconcile, stored } = aWorld();
    await reconcile(aStaticPod());
    const changed = aStaticPod('img:2');
    await reconcile(changed);
    assert.equal(stored()?.metadata.annotations?.[configAnnotations.mirror], changed.metadata.uid);
    assert.equal(stored()?.spec?.containers?.[0]?.image, 'img:2');
  });

  it('are not created without a node, nor for a node that is being deleted', async () => {
    const { api, mirrors, reconcile, setNode, writes, signal } = aWorld();
    setNode(undefined);
    await reconcile(aStaticPod());
    assert.equal(await mirrors.create(aStaticPod(), signal), false);
    setNode({ metadata: { name: 'hollow-1', uid: 'u', deletionTimestamp: '2026-01-02T03:04:05Z' } });
    await reconcile(aStaticPod());
    assert.deepEqual(writes(), []);
    await api.create('pods', { ...aStaticPod(), metadata: { ...name } });
    api.requests.length = 0;
    await reconcile(aStaticPod());
    const seen = writes().map(([verb]) => verb);
    assert.deepEqual(seen, ['delete'], 'a mirror that does not match is still deleted');
  });

  it('are not created again if they exist and the watch is late, but another pod keeps its name', async () => {
    const { api, mirrors, reconcile, signal, errors } = aWorld();
    await reconcile(aStaticPod());
    assert.equal(await mirrors.create(aStaticPod(), signal), true);
    assert.equal(api.count('create', 'pods'), 2);
    await assert.rejects(mirrors.create(aStaticPod('img:2'), signal), { reason: 'already-exists' });
    await mirrors.reconcile(aStaticPod('img:2'), undefined, signal);
    assert.deepEqual(errors(), ['error already-exists']);
  });

  it('are deleted only by uid; a missing one is no failure', async () => {
    const { api, mirrors, reconcile, stored, errors, signal } = aWorld();
    await reconcile(aStaticPod());
    const late: Pod = { ...aStaticPod(), metadata: { ...aStaticPod().metadata, uid: 'an-earlier-one' } };
    assert.equal(await mirrors.delete(late, signal), false);
    assert.notEqual(stored(), undefined);
    const mirror = stored();
    assert.ok(mirror !== undefined);
    assert.equal(await mirrors.delete(mirror, signal), true);
    assert.equal(await mirrors.delete(mirror, signal), false);
    assert.deepEqual(errors(), []);
    api.fail('delete', 'pods', 'forbidden');
    assert.equal(await mirrors.delete(mirror, signal), false);
    assert.deepEqual(errors(), ['error forbidden']);
  });

  it('are retried at the next sync when the API server rejects them', async () => {
    const { api, reconcile, stored, errors } = aWorld();
    for (const reason of ['forbidden', 'unavailable', 'aborted'] satisfies readonly ApiReason[]) {
      api.fail('create', 'pods', reason);
      await reconcile(aStaticPod());
    }
    assert.deepEqual(errors(), ['error forbidden', 'error unavailable']);
    await reconcile(aStaticPod());
    assert.notEqual(stored(), undefined);
    const changed = aStaticPod('img:2');
    api.fail('delete', 'pods', 'unavailable');
    await reconcile(changed);
    assert.equal(stored()?.spec?.containers?.[0]?.image, 'img:1', 'the first mirror is still stored');
  });
});
