import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { podInformer } from '../../../../../src/hollow-cluster/kubelet/fleet/fleet-informers.ts';
import { FaultInjectingClient } from '../../../../../src/hollow-cluster/kubelet/network/fault-injecting-client.ts';
import { apiSource, selectLostDeletions } from '../../../../../src/hollow-cluster/kubelet/pod-config/api-source.ts';
import { FileSource } from '../../../../../src/hollow-cluster/kubelet/static-pods/file-source.ts';
import { HttpSource } from '../../../../../src/hollow-cluster/kubelet/static-pods/http-source.ts';
import { PodConfig } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-config.ts';
import { PodRouter } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-router.ts';
import type { PodSource } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';
import { aPod } from '../../../../support/builders.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { aManifest, ManifestFolder, ManifestPage } from '../../../../support/manifest-folder.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder, SeededRandom } from '../../../../support/fakes.ts';

const onN1 = { spec: { nodeName: 'n1' } };

describe('pods that the API server binds to a node', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld() {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const logger = new RecordingLogger();
    const informer = podInformer({ api, clock, random: new SeededRandom(1), logger, meter: new RecordingMeter() });
    const router = new PodRouter(informer);
    const connection = new FaultInjectingClient({ api, clock, requestTimeoutMs: 1_000 });
    const life = new AbortController();
    const { signal } = life;
    let isNodeKnown = true;
    const source = apiSource({ nodeName: 'n1', router, connection, clock, isNodeKnown: () => isNodeKnown });
    const config = new PodConfig({ sources: ['file', 'http', 'api'], clock, recorder: new RecordingRecorder() });
    const running: Promise<void>[] = [];
    const disconnect = router.connect();
    const runSource = (source: PodSource): void => {
      running.push(source.run((pods, signal) => config.send(source.name, pods, signal), signal));
    };
    const start = async (): Promise<void> => {
      running.push(informer.run(signal));
      runSource(source);
      await clock.advance(1_000);
    };
    end = async () => {
      disconnect();
      life.abort();
      await Promise.all(running);
      end = async () => {};
    };
    const sent = async (afterMs = 0): Promise<readonly string[]> => {
      await clock.advance(afterMs);
      const lines: string[] = [];
      for (let update = config.updates.take(); update !== undefined; update = config.updates.take()) {
        lines.push(`${update.op} ${update.pods.map((pod) => pod.metadata.name).join()}`);
        config.addSource(update.source);
      }
      return lines;
    };
    /** Fills the channel: from now on every send blocks. */
    const jam = async (): Promise<void> => {
      for (let image = config.updates.length; image < 50; image++) {
        const metadata = { name: 'jam', namespace: 'default', uid: 'jam', labels: { image: `${image}` } };
        await config.send('http', [{ metadata }], signal);
      }
    };
    const remove = async (name: string, graceSeconds: number) => {
      const uid = api.peek('pods', `default/${name}`)?.metadata.uid ?? '';
      await api.delete('pods', { namespace: 'default', name }, { uid, gracePeriodSeconds: graceSeconds, signal });
    };
    const setNodeKnown = (known: boolean): void => {
      isNodeKnown = known;
    };
    return { api, connection, clock, config, logger, remove, runSource, setNodeKnown, source, start, sent, jam };
  }

  it('are delivered when they are added, changed and removed', async () => {
    const { api, remove, start, sent } = aWorld();
    await api.create('pods', aPod('a', onN1));
    await start();
    assert.deepEqual(await sent(), ['ADD a']);
    await api.create('pods', aPod('b', onN1));
    assert.deepEqual(await sent(), ['ADD b']);
    await api.replace('pods', { ...api.peek('pods', 'default/a'), spec: { nodeName: 'n1', priority: 1 } } as Pod);
    assert.deepEqual(await sent(), ['UPDATE a']);
    await remove('a', 30);
    assert.deepEqual(await sent(), ['DELETE a']);
    await remove('a', 0);
    assert.deepEqual(await sent(), ['REMOVE a']);
  });

  it('are delivered again to a restarted kubelet', async () => {
    const { api, clock, source, start, sent } = aWorld();
    await api.create('pods', aPod('a', onN1));
    await start();
    await sent();
    const sets: (readonly Pod[])[] = [];
    const life = new AbortController();
    const again = source.run(async (pods) => void sets.push(pods), life.signal);
    await clock.advance(0);
    life.abort();
    await again;
    const seen = sets.map((pods) => pods.map((pod) => pod.metadata.name));
    assert.deepEqual(seen, [['a']]);
  });

  it('are not delivered before the kubelet has observed its own node, but after its deletion', async () => {
    const { api, setNodeKnown, start, sent } = aWorld();
    setNodeKnown(false);
    await api.create('pods', aPod('a', onN1));
    await start();
    assert.deepEqual(await sent(10_000), []);
    setNodeKnown(true);
    assert.deepEqual(await sent(1_000), ['ADD a']);
    setNodeKnown(false);
    await api.create('pods', aPod('b', onN1));
    assert.deepEqual(await sent(), ['ADD b']);
  });

  it('are not delivered while the connection is cut; their current state is delivered when it is restored', async () => {
    const { api, connection, remove, start, sent } = aWorld();
    await api.create('pods', aPod('a', onN1));
    await api.create('pods', aPod('b', onN1));
    await start();
    await sent();
    connection.cut();
    await api.create('pods', aPod('c', onN1));
    await remove('a', 0);
    await remove('b', 30);
    assert.deepEqual(await sent(60_000), []);
    connection.restore();
    assert.deepEqual(await sent(), ['REMOVE a', 'ADD c', 'DELETE b']);
  });

  it('are coalesced into one list while the channel is full, but no deletion is missed', async () => {
    const { api, clock, jam, remove, start, sent } = aWorld();
    for (const name of ['a', 'b', 'c']) await api.create('pods', aPod(name, onN1));
    await start();
    await sent();
    await jam();
    await api.create('pods', aPod('d', onN1));
    await clock.advance(0);
    // The send of d blocks; all later changes are in one list.
    for (const phase of ['Pending', 'Running']) {
      await api.replace('pods', { ...api.peek('pods', 'default/c'), status: { phase } } as Pod);
    }
    await remove('a', 30);
    await remove('a', 0);
    await remove('b', 30);
    await remove('b', 0);
    await api.create('pods', aPod('b', onN1));
    await clock.advance(0);
    const lines = (await sent()).filter((line) => !line.endsWith('jam'));
    lines.push(...(await sent()), ...(await sent()));
    // The list with the deleted pods comes first; the new b follows the old one in the next list.
    assert.deepEqual(lines, ['ADD d', 'DELETE a,b', 'RECONCILE c', 'REMOVE a,b', 'ADD b']);
  });

  it('are never delivered without an API server; static pods are, and leftover pods may not be stopped [C10]', async () => {
    const { api, clock, config, logger, runSource, start, sent } = aWorld();
    api.fail('list', 'pods', 'unavailable', 1_000_000);
    api.fail('watch', 'pods', 'unavailable', 1_000_000);
    const folder = new ManifestFolder();
    folder.write('web.yaml', aManifest('web'));
    const page = new ManifestPage();
    page.show(aManifest('cache'));
    const common = { nodeName: 'n1', text: manifestText, clock, logger };
    runSource(new FileSource({ ...common, files: folder }));
    runSource(new HttpSource({ ...common, manifests: page }));
    await start();
    assert.deepEqual((await sent()).toSorted(), ['ADD cache-n1', 'ADD web-n1']);
    for (let minute = 0; minute < 10; minute++) {
      assert.deepEqual(await sent(60_000), []);
      assert.equal(config.allReady(), false);
    }
  });
});

describe('deletions that a coalesced list has lost', () => {
  const pods = (...names: readonly string[]): readonly Pod[] =>
    names.map((name) => aPod(name, { metadata: { uid: `${name}-1` }, ...onN1 }));

  it('are none if all pods still exist', () => {
    assert.equal(selectLostDeletions(pods('a'), []), undefined);
    assert.equal(selectLostDeletions(pods('a', 'b'), pods('a')), undefined);
  });

  it('come first, without new pods of the same names', () => {
    const newer = aPod('a', { metadata: { uid: 'a-2' }, ...onN1 });
    const before = selectLostDeletions([newer, ...pods('b')], pods('a'));
    const seen = before?.map((pod) => pod.metadata.uid);
    assert.deepEqual(seen, ['a-1', 'b-1']);
  });
});
