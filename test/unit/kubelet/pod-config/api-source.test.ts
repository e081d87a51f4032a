import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../../src/adapters/manifest-text.ts';
import type { Pod } from '../../../../src/api/pod.ts';
import { podInformer } from '../../../../src/kubelet/fleet-informers.ts';
import { Link } from '../../../../src/kubelet/link.ts';
import { ApiSource } from '../../../../src/kubelet/pod-config/api-source.ts';
import { deriveLostDeletions } from '../../../../src/kubelet/pod-config/derive-lost-deletions.ts';
import { FileSource } from '../../../../src/kubelet/pod-config/file-source.ts';
import { HttpSource } from '../../../../src/kubelet/pod-config/http-source.ts';
import { PodConfig } from '../../../../src/kubelet/pod-config/pod-config.ts';
import { PodRouter } from '../../../../src/kubelet/pod-config/pod-router.ts';
import type { PodSource } from '../../../../src/kubelet/pod-config/pod-source.ts';
import { SourcesReady } from '../../../../src/kubelet/pod-config/sources-ready.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { aManifest, ManifestFolder, ManifestPage } from '../../../support/manifest-folder.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder, SeededRandom } from '../../../support/quiet.ts';

function aPod(name: string, fields: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name, namespace: 'default', ...fields }, spec: { nodeName: 'n1' } };
}

describe('pods that the API server binds to a node', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld() {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const logger = new KeepingLogger();
    const informer = podInformer({ api, clock, random: new SeededRandom(1), logger, meter: new KeepingMeter() });
    const router = new PodRouter(informer);
    const cable = new Link({ api, clock, requestTimeoutMs: 1_000 });
    const life = new AbortController();
    const { signal } = life;
    let nodesSynced = true;
    const source = new ApiSource({ nodeName: 'n1', router, cable, clock, nodesSynced: () => nodesSynced });
    const config = new PodConfig({ sources: ['file', 'http', 'api'], clock, recorder: new KeepingRecorder() });
    const ready = new SourcesReady(config);
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
    const told = async (afterMs = 0): Promise<readonly string[]> => {
      await clock.advance(afterMs);
      const lines: string[] = [];
      for (let update = config.updates.take(); update !== undefined; update = config.updates.take()) {
        lines.push(`${update.op} ${update.pods.map((pod) => pod.metadata.name).join()}`);
        ready.addSource(update.source);
      }
      return lines;
    };
    /** Fills the channel: from now on every send waits. */
    const jam = async (): Promise<void> => {
      for (let image = config.updates.length; image < 50; image++) {
        const metadata = { name: 'jam', namespace: 'default', uid: 'jam', labels: { image: `${image}` } };
        await config.apply({ op: 'ADD', source: 'http', pods: [{ metadata }] }, signal);
      }
    };
    const remove = async (name: string, graceSeconds: number) => {
      const uid = api.peek('pods', `default/${name}`)?.metadata.uid ?? '';
      await api.delete('pods', { namespace: 'default', name }, { uid, gracePeriodSeconds: graceSeconds, signal });
    };
    const setNodesSynced = (synced: boolean): void => {
      nodesSynced = synced;
    };
    return { api, cable, clock, config, logger, ready, remove, runSource, setNodesSynced, source, start, told, jam };
  }

  it('are told as they come, change and go', async () => {
    const { api, remove, start, told } = aWorld();
    await api.create('pods', aPod('a'));
    await start();
    assert.deepEqual(await told(), ['ADD a']);
    await api.create('pods', aPod('b'));
    assert.deepEqual(await told(), ['ADD b']);
    await api.replace('pods', { ...api.peek('pods', 'default/a'), spec: { nodeName: 'n1', priority: 1 } } as Pod);
    assert.deepEqual(await told(), ['UPDATE a']);
    await remove('a', 30);
    assert.deepEqual(await told(), ['DELETE a']);
    await remove('a', 0);
    assert.deepEqual(await told(), ['REMOVE a']);
  });

  it('are sent again to a kubelet that starts again', async () => {
    const { api, clock, source, start, told } = aWorld();
    await api.create('pods', aPod('a'));
    await start();
    await told();
    const sets: (readonly Pod[])[] = [];
    const life = new AbortController();
    const again = source.run(async (pods) => void sets.push(pods), life.signal);
    await clock.advance(0);
    life.abort();
    await again;
    assert.deepEqual(
      sets.map((pods) => pods.map((pod) => pod.metadata.name)),
      [['a']],
    );
  });

  it('are not asked for before the node was looked for', async () => {
    const { api, setNodesSynced, start, told } = aWorld();
    setNodesSynced(false);
    await api.create('pods', aPod('a'));
    await start();
    assert.deepEqual(await told(10_000), []);
    setNodesSynced(true);
    assert.deepEqual(await told(1_000), ['ADD a']);
  });

  it('stand still while the cable is out, and are told as they are then when it is in again', async () => {
    const { api, cable, remove, start, told } = aWorld();
    await api.create('pods', aPod('a'));
    await api.create('pods', aPod('b'));
    await start();
    await told();
    cable.cut();
    await api.create('pods', aPod('c'));
    await remove('a', 0);
    await remove('b', 30);
    assert.deepEqual(await told(60_000), []);
    cable.restore();
    assert.deepEqual(await told(), ['REMOVE a', 'ADD c', 'DELETE b']);
  });

  it('are one list, however many changes came while nobody read, but no deletion is missed', async () => {
    const { api, clock, jam, remove, start, told } = aWorld();
    for (const name of ['a', 'b', 'c']) await api.create('pods', aPod(name));
    await start();
    await told();
    await jam();
    await api.create('pods', aPod('d'));
    await clock.advance(0);
    // The send of d waits; all that follows comes in one list.
    for (const phase of ['Pending', 'Running']) {
      await api.replace('pods', { ...api.peek('pods', 'default/c'), status: { phase } } as Pod);
    }
    await remove('a', 30);
    await remove('a', 0);
    await remove('b', 30);
    await remove('b', 0);
    await api.create('pods', aPod('b'));
    await clock.advance(0);
    const lines = (await told()).filter((line) => !line.endsWith('jam'));
    lines.push(...(await told()), ...(await told()));
    // The list with what went comes first; in it the new b waits for the old one.
    assert.deepEqual(lines, ['ADD d', 'DELETE a,b', 'RECONCILE c', 'REMOVE a,b', 'ADD b']);
  });

  it('never come without an API server; static pods do, and nothing that is left over may be stopped [C10]', async () => {
    const { api, clock, logger, ready, runSource, start, told } = aWorld();
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
    assert.deepEqual((await told()).toSorted(), ['ADD cache-n1', 'ADD web-n1']);
    for (let minute = 0; minute < 10; minute++) {
      assert.deepEqual(await told(60_000), []);
      assert.equal(ready.allReady(), false);
    }
  });
});

describe('the deletions that a list has lost', () => {
  const pods = (...names: readonly string[]): readonly Pod[] => names.map((name) => aPod(name, { uid: `${name}-1` }));

  it('are none where all is there still', () => {
    assert.equal(deriveLostDeletions(pods('a'), []), undefined);
    assert.equal(deriveLostDeletions(pods('a', 'b'), pods('a')), undefined);
  });

  it('come first, without who bears their names now', () => {
    const newer = aPod('a', { uid: 'a-2' });
    const before = deriveLostDeletions([newer, ...pods('b')], pods('a'));
    assert.deepEqual(
      before?.map((pod) => pod.metadata.uid),
      ['a-1', 'b-1'],
    );
  });
});
