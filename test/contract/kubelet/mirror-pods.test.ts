// Mirrors of static pods against the embedded API server, over HTTP.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { manifestText } from '../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { isMirrorOf } from '../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { parseFilePod } from '../../../src/hollow-cluster/kubelet/static-pods/parse-static-pod.ts';
import { MirrorPods } from '../../../src/hollow-cluster/kubelet/static-pods/mirror-pods.ts';
import { aManifest } from '../../support/manifest-folder.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';

const clock = new SystemClock();
const logger = new RecordingLogger();
const { signal } = new AbortController();
const name = { namespace: 'kube-system', name: 'web-n1' };

function aStaticPod(image: string): Pod {
  const parsed = manifestText.parse(aManifest('web', { image }));
  const document = 'document' in parsed ? parsed.document : undefined;
  const origin = { nodeName: 'n1', source: 'file', place: '/m/web.yaml', digest: manifestText.digest } as const;
  const result = parseFilePod(document, origin);
  const [pod] = 'pods' in result ? result.pods : [];
  assert.ok(pod !== undefined);
  return pod;
}

describe('mirrors of static pods on an API server', () => {
  let server: RunningApiServer;
  let api: HttpKubeApi;
  let node: Node;
  let mirrors: MirrorPods;

  before(async () => {
    server = await startApiServer({ clock, random: new SeededRandom(1), logger, tls: false });
    api = makeKubeApi(plainConnection(server.url, { token: server.adminToken }), { logger });
    node = await api.create('nodes', { metadata: { name: 'n1' } }, { signal });
    mirrors = new MirrorPods({ api, node: () => node, logger });
  });

  after(async () => {
    await api.close();
    await server.close();
  });

  const stored = (): Promise<Pod> => api.get('pods', name, { signal });

  it('have a uid assigned by the server, the hash of their pod, and their node as the owner', async () => {
    const pod = aStaticPod('img:1');
    assert.equal(await mirrors.create(pod, signal), true);
    const mirror = await stored();
    assert.notEqual(mirror.metadata.uid, pod.metadata.uid);
    assert.equal(isMirrorOf(mirror, pod), true);
    const uid = node.metadata.uid ?? '';
    assert.deepEqual(mirror.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true },
    ]);
    assert.equal(await mirrors.create(pod, signal), true, 'it already exists and matches');
    assert.equal((await stored()).metadata.uid, mirror.metadata.uid);
    await assert.rejects(mirrors.create(aStaticPod('img:2'), signal), { reason: 'already-exists' });
  });

  it('are recreated after a deletion, and replaced when their pod changes [C21]', async () => {
    const pod = aStaticPod('img:1');
    const { uid = '' } = (await stored()).metadata;
    await api.delete('pods', name, { uid, gracePeriodSeconds: 30, signal });
    const deleted = await stored();
    assert.notEqual(deleted.metadata.deletionTimestamp, undefined);
    await mirrors.reconcile(pod, deleted, signal);
    const again = await stored();
    assert.notEqual(again.metadata.uid, uid);
    assert.equal(again.metadata.deletionTimestamp, undefined);
    assert.equal(await mirrors.delete(deleted, signal), false, 'the old mirror no longer exists');
    const changed = aStaticPod('img:2');
    await mirrors.reconcile(changed, again, signal);
    assert.equal(isMirrorOf(await stored(), changed), true);
  });

  it('are deleted at once', async () => {
    const mirror = await stored();
    assert.equal(await mirrors.delete(mirror, signal), true);
    await assert.rejects(stored(), { reason: 'not-found' });
    assert.equal(await mirrors.delete(mirror, signal), false);
    assert.deepEqual(logger.at('error'), []);
  });
});
