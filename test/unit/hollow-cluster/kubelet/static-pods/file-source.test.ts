import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import { podFullName } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { FileSource } from '../../../../../src/hollow-cluster/kubelet/static-pods/file-source.ts';
import { PodConfig } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-config.ts';
import type { PodUpdate } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { aManifest, ManifestFolder } from '../../../../support/manifest-folder.ts';
import { RecordingLogger, RecordingRecorder } from '../../../../support/fakes.ts';

describe('static pods from files', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld() {
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    const startMs = clock.monotonicMs();
    const folder = new ManifestFolder(() => clock.monotonicMs() - startMs);
    const config = new PodConfig({ sources: ['file'], clock, recorder: new RecordingRecorder() });
    const source = new FileSource({ nodeName: 'n1', files: folder, text: manifestText, clock, logger });
    let life: AbortController | undefined;
    const sends: number[] = [];
    let running: Promise<void> | undefined;
    const start = (): void => {
      life = new AbortController();
      running = source.run((pods, signal) => {
        sends.push(pods.length);
        return config.send('file', pods, signal);
      }, life.signal);
    };
    end = async () => {
      life?.abort();
      await running;
    };
    /** The updates that the sync loop would have received so far. */
    const taken = async (afterMs = 0): Promise<readonly PodUpdate[]> => {
      await clock.advance(afterMs);
      const updates: PodUpdate[] = [];
      for (let update = config.updates.take(); update !== undefined; update = config.updates.take()) {
        updates.push(update);
        config.addSource(update.source);
      }
      return updates;
    };
    const sent = async (afterMs = 0): Promise<readonly string[]> => {
      const names = ({ pods }: PodUpdate) => pods.map((pod) => pod.metadata.name).join();
      return (await taken(afterMs)).map((update) => `${update.op} ${names(update)}`);
    };
    const problems = () => logger.at('error').map(({ fields }) => fields['problem']);
    return { clock, logger, config, folder, start, taken, sent, problems, sends };
  }

  /** A source that has sent this manifest. */
  async function running(manifest: string): Promise<ReturnType<typeof aWorld>> {
    const world = aWorld();
    world.folder.write('web.yaml', manifest);
    world.start();
    await world.sent();
    return world;
  }

  it('are an empty list while the path is missing, and are added soon after it exists [C11]', async () => {
    const { config, folder, start, sent, sends } = aWorld();
    folder.exists = false;
    start();
    assert.deepEqual(await sent(1_000), ['ADD ']);
    assert.equal(config.allReady(), true);
    folder.exists = true;
    folder.write('web.yaml', aManifest('web'), true);
    assert.deepEqual(await sent(20_000), ['ADD web-n1']);
    folder.exists = false;
    assert.deepEqual(await sent(20_000), ['REMOVE web-n1']);
    assert.ok(sends.length >= 3);
  });

  it('are found by the listing within 20 s if the watch misses them', async () => {
    const { folder, start, sent } = aWorld();
    start();
    assert.deepEqual(await sent(), ['ADD ']);
    folder.write('web.yaml', aManifest('web'), true);
    assert.deepEqual(await sent(19_999), []);
    assert.deepEqual(await sent(1), ['ADD web-n1']);
  });

  it('are found at once by the watch, and removed at once with their files', async () => {
    const { folder, start, sent } = aWorld();
    start();
    await sent();
    folder.write('web.yaml', aManifest('web'));
    assert.deepEqual(await sent(), ['ADD web-n1']);
    folder.delete('web.yaml');
    assert.deepEqual(await sent(), ['REMOVE web-n1']);
    folder.delete('never-there.yaml');
    assert.deepEqual(await sent(), []);
  });

  it('are replaced after an edit: the old pod is removed, then the new one is added under its name [C12]', async () => {
    const { folder, start, taken } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    start();
    const [first] = await taken();
    folder.write('web.yaml', aManifest('web', { image: 'img:2' }));
    const [remove, add, ...more] = await taken();
    assert.deepEqual([remove?.op, add?.op, more], ['REMOVE', 'ADD', []]);
    const [before, gone, after] = [first?.pods[0], remove?.pods[0], add?.pods[0]];
    assert.ok(before !== undefined && gone !== undefined && after !== undefined);
    assert.equal(gone.metadata.uid, before.metadata.uid);
    assert.notEqual(after.metadata.uid, before.metadata.uid);
    assert.equal(podFullName(after), podFullName(before));
  });

  it('of one name in two files: the later file name wins, as in the kubelet, and it is logged once', async () => {
    const { clock, folder, logger, sent, taken } = await running(aManifest('web', { image: 'img:new' }));
    folder.write('web.yaml.bak', aManifest('web', { image: 'img:old' }));
    const images = (await taken()).flatMap(({ op, pods }) => (op === 'ADD' ? pods : []));
    assert.deepEqual(
      images.map(({ spec }) => spec?.containers?.[0]?.image),
      ['img:old'],
    );
    await clock.advance(60_000);
    const lines = logger.at('warn').map(({ message, fields }) => ({ message, ...fields }));
    const message = 'static pod manifest ignored, another file defines the same pod';
    const pod = 'kube-system/web-n1';
    assert.deepEqual(lines, [{ message, path: folder.path, pod, ignored: 'web.yaml', file: 'web.yaml.bak' }]);
    folder.delete('web.yaml.bak');
    await sent();
    folder.write('web.yaml.bak', aManifest('web', { image: 'img:old' }));
    await sent();
    assert.equal(logger.at('warn').length, 2, 'again when it comes back');
  });

  it('are unchanged if only the notation of the manifest changes', async () => {
    const { folder, sent } = await running(aManifest('web'));
    const container = { image: 'img:1', name: 'c', imagePullPolicy: 'IfNotPresent' };
    const pod = { spec: { containers: [container] }, metadata: { namespace: 'kube-system', name: 'web' } };
    folder.write('web.yaml', `# a remark\n${JSON.stringify({ ...pod, kind: 'Pod', apiVersion: 'v1' })}`);
    assert.deepEqual(await sent(), []);
  });

  it('are updated, not replaced, if their manifest sets the uid [C13]', async () => {
    const { folder, start, taken } = aWorld();
    folder.write('web.yaml', aManifest('web', { uid: 'mine' }));
    start();
    await taken();
    folder.write('web.yaml', aManifest('web', { uid: 'mine', image: 'img:2' }));
    const updates = await taken();
    const seen = updates.map(({ op, pods }) => [op, pods[0]?.metadata.uid, pods[0]?.spec?.containers?.[0]?.image]);
    assert.deepEqual(seen, [['UPDATE', 'mine', 'img:2']]);
  });

  it('stay when their file becomes invalid, until the next listing [C14]', async () => {
    const { folder, start, sent, problems } = aWorld();
    folder.write('db.yaml', aManifest('db'));
    folder.write('web.yaml', aManifest('web'));
    start();
    assert.deepEqual(await sent(), ['ADD db-n1,web-n1']);
    folder.write('web.yaml', 'kind: Pod\n  metadata: [');
    assert.deepEqual(await sent(10_000), []);
    assert.equal(problems().length, 1);
    assert.deepEqual(await sent(10_000), ['REMOVE web-n1']);
    assert.equal(problems().length, 1, 'a repeated problem is logged at debug level');
    folder.write('web.yaml', aManifest('web'));
    assert.deepEqual(await sent(), ['ADD web-n1']);
  });

  it('are all removed when all files are invalid, and are not restored by another file', async () => {
    const { folder, start, sent } = aWorld();
    folder.write('db.yaml', aManifest('db'));
    folder.write('web.yaml', aManifest('web'));
    start();
    await sent();
    folder.write('db.yaml', '{');
    folder.write('web.yaml', '{');
    assert.deepEqual(await sent(20_000), ['REMOVE db-n1,web-n1']);
    folder.write('cache.yaml', aManifest('cache'));
    assert.deepEqual(await sent(), ['ADD cache-n1']);
  });

  it('are not read from files whose names begin with a dot [C15]', async () => {
    const { folder, start, sent } = aWorld();
    folder.write('.web.yaml', aManifest('web'));
    start();
    assert.deepEqual(await sent(), ['ADD ']);
    folder.touch('.web.yaml');
    assert.deepEqual(await sent(40_000), []);
  });

  it('are those of the later file if two files define the same pod', async () => {
    const { folder, start, taken, sent } = aWorld();
    folder.write('b.yaml', aManifest('web', { image: 'img:b' }));
    folder.write('a.yaml', aManifest('web', { image: 'img:a' }));
    start();
    const images = (await taken()).flatMap(({ pods }) => pods.map((pod) => pod.spec?.containers?.[0]?.image));
    assert.deepEqual(images, ['img:b']);
    folder.delete('b.yaml');
    assert.deepEqual(await sent(), ['REMOVE web-n1', 'ADD web-n1'], 'the pod of the earlier file replaces it at once');
  });

  it('lose their old name at once when their file defines another pod', async () => {
    const { folder, sent } = await running(aManifest('web'));
    folder.write('web.yaml', aManifest('shop'));
    assert.deepEqual(await sent(), ['REMOVE web-n1', 'ADD shop-n1']);
  });

  it('may come from a single file: the pod stays if it is invalid, but not if it is missing', async () => {
    const { folder, start, sent, problems } = aWorld();
    folder.single = aManifest('web');
    start();
    assert.deepEqual(await sent(), ['ADD web-n1']);
    folder.single = '{';
    folder.touch('');
    assert.deepEqual(await sent(40_000), []);
    assert.equal(problems().length, 1);
    folder.single = undefined;
    folder.exists = false;
    assert.deepEqual(await sent(20_000), ['REMOVE web-n1']);
  });

  it('are watched again every second while the path is missing, and with back-off while the watch fails', async () => {
    const { clock, folder, start } = aWorld();
    folder.exists = false;
    start();
    await clock.advance(2_500);
    assert.deepEqual(folder.watchedAt, [0, 1_000, 2_000]);
    folder.exists = true;
    folder.watchFailure = 'too many watches';
    folder.watchedAt.length = 0;
    await clock.advance(80_000);
    assert.deepEqual(folder.watchedAt, [3_000, 4_000, 6_000, 10_000, 18_000, 34_000, 54_000, 74_000]);
  });

  it('are sent again to a restarted kubelet', async () => {
    const { start, sent, sends } = await running(aManifest('web'));
    await end();
    sends.length = 0;
    start();
    await sent();
    assert.equal(sends[0], 1);
  });

  it('cause only the listing while nothing changes', async () => {
    const { sent, sends } = await running(aManifest('web'));
    sends.length = 0;
    assert.deepEqual(await sent(60_000), []);
    assert.deepEqual(sends, [1, 1, 1]);
  });
});
