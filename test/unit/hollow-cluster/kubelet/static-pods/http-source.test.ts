import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { HttpSource } from '../../../../../src/hollow-cluster/kubelet/static-pods/http-source.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { aManifest, ManifestPage } from '../../../../support/manifest-folder.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

describe('static pods from a URL', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld() {
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    const page = new ManifestPage();
    const source = new HttpSource({ nodeName: 'n1', manifests: page, text: manifestText, clock, logger });
    let life: AbortController | undefined;
    const sets: (readonly Pod[])[] = [];
    let running: Promise<void> | undefined;
    const start = async (): Promise<void> => {
      life = new AbortController();
      running = source.run(async (pods) => void sets.push(pods), life.signal);
      await clock.advance(0);
    };
    end = async () => {
      life?.abort();
      await running;
    };
    const names = () => sets.splice(0).map((pods) => pods.map((pod) => pod.metadata.name).join());
    const polls = (count: number) => clock.advance(count * 20_000);
    const lines = () => logger.lines.splice(0).map(({ level, fields }) => `${level} ${String(fields['problem'])}`);
    return { page, start, polls, names, lines };
  }

  it('are an empty list and a failure if the document is empty; after that a document is processed once [C16]', async () => {
    const { page, start, polls, names, lines } = aWorld();
    page.show('');
    await start();
    assert.deepEqual(names(), ['']);
    assert.deepEqual(lines(), ['info document is empty']);
    page.show(aManifest('web'));
    await polls(2);
    assert.deepEqual(names(), ['web-n1']);
    assert.equal(page.asked, 3);
  });

  it('are restored when the same document follows an empty one', async () => {
    const { page, start, polls, names } = aWorld();
    page.show(aManifest('web'));
    await start();
    page.show('');
    await polls(1);
    page.show(aManifest('web'));
    await polls(1);
    assert.deepEqual(names(), ['web-n1', '', 'web-n1']);
  });

  it('are unknown while the document is invalid, which is logged once [C17]', async () => {
    const { page, start, polls, names, lines } = aWorld();
    page.show('kind: Service\napiVersion: v1\n');
    await start();
    await polls(5);
    assert.deepEqual(names(), [], 'the source has sent nothing, so it is not ready');
    assert.deepEqual(lines(), ['info kind: must be Pod or PodList (got "Service")']);
    page.show(aManifest('web'));
    await polls(1);
    assert.deepEqual(names(), ['web-n1']);
  });

  it('may be a list; one invalid pod makes the whole list invalid', async () => {
    const { page, start, polls, names, lines } = aWorld();
    const item = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'img:1' }] } });
    const list = (...items: readonly unknown[]) => JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items });
    page.show(list(item('a'), item('b')));
    await start();
    assert.deepEqual(names(), ['a-n1,b-n1']);
    page.show(list(item('a'), item('B')));
    await polls(1);
    assert.deepEqual(names(), []);
    assert.match(lines().join(), /^info items\[1\]\.metadata\.name: must be a lowercase RFC 1123 .* \(got "B-n1"\)/);
    page.show(list());
    await polls(1);
    assert.deepEqual(names(), ['']);
  });

  it('are sent again to a restarted kubelet', async () => {
    const { page, start, names } = aWorld();
    page.show(aManifest('web'));
    await start();
    await end();
    await start();
    assert.deepEqual(names(), ['web-n1', 'web-n1']);
  });

  it('stay while requests fail; repeated failures are logged at debug level until one succeeds', async () => {
    const { page, start, polls, names, lines } = aWorld();
    page.show(aManifest('web'));
    await start();
    page.show('gone', 404);
    await polls(5);
    const problem = 'status: must be 200 (got 404)';
    assert.deepEqual(lines(), [...Array.from({ length: 4 }, () => `info ${problem}`), `debug ${problem}`]);
    page.show(aManifest('web'));
    await polls(1);
    assert.deepEqual(lines(), ['info undefined'], 'requests succeed again');
    page.answer = { kind: 'failed', problem: 'refused' };
    await polls(1);
    assert.deepEqual(lines(), ['info refused']);
    assert.deepEqual(names(), ['web-n1'], 'nothing else was sent');
  });
});
