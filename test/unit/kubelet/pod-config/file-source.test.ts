import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../../src/adapters/manifest-text.ts';
import { podFullName } from '../../../../src/kubelet/pod-config/classify-pod.ts';
import { FileSource } from '../../../../src/kubelet/pod-config/file-source.ts';
import { PodConfig } from '../../../../src/kubelet/pod-config/pod-config.ts';
import type { PodUpdate } from '../../../../src/kubelet/pod-config/pod-update.ts';
import { SourcesReady } from '../../../../src/kubelet/pod-config/sources-ready.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { aManifest, ManifestFolder } from '../../../support/manifest-folder.ts';
import { KeepingLogger, KeepingRecorder } from '../../../support/quiet.ts';

describe('static pods from files', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld() {
    const clock = new ManualClock();
    const logger = new KeepingLogger();
    const startMs = clock.monotonicMs();
    const folder = new ManifestFolder(() => clock.monotonicMs() - startMs);
    const config = new PodConfig({ sources: ['file'], clock, recorder: new KeepingRecorder() });
    const ready = new SourcesReady(config);
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
    /** What the sync loop would have been told by now. */
    const taken = async (afterMs = 0): Promise<readonly PodUpdate[]> => {
      await clock.advance(afterMs);
      const updates: PodUpdate[] = [];
      for (let update = config.updates.take(); update !== undefined; update = config.updates.take()) {
        updates.push(update);
        ready.addSource(update.source);
      }
      return updates;
    };
    const told = async (afterMs = 0): Promise<readonly string[]> => {
      const names = ({ pods }: PodUpdate) => pods.map((pod) => pod.metadata.name).join();
      return (await taken(afterMs)).map((update) => `${update.op} ${names(update)}`);
    };
    const problems = () => logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['problem']);
    return { clock, folder, ready, start, taken, told, problems, sends };
  }

  it('are an empty list while the path is missing, and there soon after it is [C11]', async () => {
    const { folder, ready, start, told, sends } = aWorld();
    folder.exists = false;
    start();
    assert.deepEqual(await told(1_000), ['ADD ']);
    assert.equal(ready.allReady(), true);
    folder.exists = true;
    folder.write('web.yaml', aManifest('web'), true);
    assert.deepEqual(await told(20_000), ['ADD web-n1']);
    folder.exists = false;
    assert.deepEqual(await told(20_000), ['REMOVE web-n1']);
    assert.ok(sends.length >= 3);
  });

  it('are found by listing, where the watch says nothing, within 20 s', async () => {
    const { folder, start, told } = aWorld();
    start();
    assert.deepEqual(await told(), ['ADD ']);
    folder.write('web.yaml', aManifest('web'), true);
    assert.deepEqual(await told(19_999), []);
    assert.deepEqual(await told(1), ['ADD web-n1']);
  });

  it('are found at once where the watch says so, and go at once with their files', async () => {
    const { folder, start, told } = aWorld();
    start();
    await told();
    folder.write('web.yaml', aManifest('web'));
    assert.deepEqual(await told(), ['ADD web-n1']);
    folder.delete('web.yaml');
    assert.deepEqual(await told(), ['REMOVE web-n1']);
    folder.delete('never-there.yaml');
    assert.deepEqual(await told(), []);
  });

  it('are other pods after an edit: the old one goes, then the new one comes under its name [C12]', async () => {
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

  it('are the same pods however they are written', async () => {
    const { folder, start, told } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    start();
    await told();
    const container = { image: 'img:1', name: 'c', imagePullPolicy: 'IfNotPresent' };
    const pod = { spec: { containers: [container] }, metadata: { namespace: 'kube-system', name: 'web' } };
    folder.write('web.yaml', `# a remark\n${JSON.stringify({ ...pod, kind: 'Pod', apiVersion: 'v1' })}`);
    assert.deepEqual(await told(), []);
  });

  it('are changed, not replaced, where their manifest says which uid they have [C13]', async () => {
    const { folder, start, taken } = aWorld();
    folder.write('web.yaml', aManifest('web', { uid: 'mine' }));
    start();
    await taken();
    folder.write('web.yaml', aManifest('web', { uid: 'mine', image: 'img:2' }));
    const updates = await taken();
    assert.deepEqual(
      updates.map(({ op, pods }) => [op, pods[0]?.metadata.uid, pods[0]?.spec?.containers?.[0]?.image]),
      [['UPDATE', 'mine', 'img:2']],
    );
  });

  it('stay when their file breaks, until the next listing [C14]', async () => {
    const { folder, start, told, problems } = aWorld();
    folder.write('db.yaml', aManifest('db'));
    folder.write('web.yaml', aManifest('web'));
    start();
    assert.deepEqual(await told(), ['ADD db-n1,web-n1']);
    folder.write('web.yaml', 'kind: Pod\n  metadata: [');
    assert.deepEqual(await told(10_000), []);
    assert.equal(problems().length, 1);
    assert.deepEqual(await told(10_000), ['REMOVE web-n1']);
    assert.equal(problems().length, 1, 'the same is not told again');
    folder.write('web.yaml', aManifest('web'));
    assert.deepEqual(await told(), ['ADD web-n1']);
  });

  it('all go when all files are broken, and do not come back with another file', async () => {
    const { folder, start, told } = aWorld();
    folder.write('db.yaml', aManifest('db'));
    folder.write('web.yaml', aManifest('web'));
    start();
    await told();
    folder.write('db.yaml', '{');
    folder.write('web.yaml', '{');
    assert.deepEqual(await told(20_000), ['REMOVE db-n1,web-n1']);
    folder.write('cache.yaml', aManifest('cache'));
    assert.deepEqual(await told(), ['ADD cache-n1']);
  });

  it('are not read from files whose names begin with a dot [C15]', async () => {
    const { folder, start, told } = aWorld();
    folder.write('.web.yaml', aManifest('web'));
    start();
    assert.deepEqual(await told(), ['ADD ']);
    folder.touch('.web.yaml');
    assert.deepEqual(await told(40_000), []);
  });

  it('are those of the later file where two files name one pod', async () => {
    const { folder, start, taken, told } = aWorld();
    folder.write('b.yaml', aManifest('web', { image: 'img:b' }));
    folder.write('a.yaml', aManifest('web', { image: 'img:a' }));
    start();
    const images = (await taken()).flatMap(({ pods }) => pods.map((pod) => pod.spec?.containers?.[0]?.image));
    assert.deepEqual(images, ['img:b']);
    folder.delete('b.yaml');
    assert.deepEqual(await told(), ['REMOVE web-n1', 'ADD web-n1'], 'the earlier one takes its place at once');
  });

  it('leave their old name at once when a file names another pod', async () => {
    const { folder, start, told } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    start();
    await told();
    folder.write('web.yaml', aManifest('shop'));
    assert.deepEqual(await told(), ['REMOVE web-n1', 'ADD shop-n1']);
  });

  it('may be one file: broken it keeps its pod, missing it does not', async () => {
    const { folder, start, told, problems } = aWorld();
    folder.single = aManifest('web');
    start();
    assert.deepEqual(await told(), ['ADD web-n1']);
    folder.single = '{';
    folder.touch('');
    assert.deepEqual(await told(40_000), []);
    assert.equal(problems().length, 1);
    folder.single = undefined;
    folder.exists = false;
    assert.deepEqual(await told(20_000), ['REMOVE web-n1']);
  });

  it('are watched again every second while there is nothing to watch, and less often while that fails', async () => {
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

  it('are sent again to a kubelet that starts again', async () => {
    const { folder, start, told, sends } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    start();
    await told();
    await end();
    sends.length = 0;
    start();
    await told();
    assert.equal(sends[0], 1);
  });

  it('cost nothing but the listing while nothing changes', async () => {
    const { folder, start, told, sends } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    start();
    await told();
    sends.length = 0;
    assert.deepEqual(await told(60_000), []);
    assert.deepEqual(sends, [1, 1, 1]);
  });
});
