// The file source against real files and a real inotify; periods are the real ones unless a test sets them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { manifestText } from '../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import { manifestBytesMax, StaticPodFiles } from '../../../src/cli/simulation/hollow-nodes/manifests/files.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { FileSource } from '../../../src/hollow-cluster/kubelet/static-pods/file-source.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { aManifest } from '../../support/manifest-folder.ts';
import { until } from '../../support/until.ts';
import { aliasBomb, deepTexts } from '../../support/hostile-texts.ts';

const clock = new SystemClock();
/** Much less than the 20 s between listings: only the watch is that quick. */
const watchMsMax = 5_000;

describe('static pods of real files', () => {
  let base: string;
  let folder: string;
  let end: () => Promise<void>;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'static-pods-'));
    folder = join(base, 'manifests');
    await mkdir(folder);
    end = async () => {};
  });

  afterEach(async () => {
    await end();
    await rm(base, { recursive: true });
  });

  function follow(path = folder, checkPeriodMs?: number) {
    const logger = new RecordingLogger();
    const life = new AbortController();
    const sets: string[] = [];
    const period = checkPeriodMs === undefined ? {} : { checkPeriodMs };
    const files = new StaticPodFiles(path);
    const source = new FileSource({ nodeName: 'n1', files, text: manifestText, clock, logger, ...period });
    const running = source.run(async (pods) => {
      sets.push(pods.map(({ metadata, spec }) => `${metadata.name} ${spec?.containers?.[0]?.image}`).join());
    }, life.signal);
    end = async () => {
      life.abort();
      await running;
    };
    const become = (set: string) => until(() => sets.at(-1) === set, watchMsMax);
    const problems = () => logger.at('error').map(({ fields }) => fields['problem']);
    return { sets, become, problems };
  }

  const write = (name: string, text: string) => writeFile(join(folder, name), text);

  it('are added, changed, renamed and removed with their files at once', async () => {
    const { become } = follow();
    await become('');
    await write('web.yaml', aManifest('web'));
    await become('web-n1 img:1');
    await write('web.yaml', aManifest('web', { image: 'img:2' }));
    await become('web-n1 img:2');
    await write('next', aManifest('web', { image: 'img:3' }));
    await rename(join(folder, 'next'), join(folder, 'web.yaml'));
    await become('web-n1 img:3');
    await rename(join(folder, 'web.yaml'), join(folder, 'shop.yaml'));
    await write('db.json', aJson('db'));
    await become('db-n1 img:1,web-n1 img:3');
    await rm(join(folder, 'shop.yaml'));
    await become('db-n1 img:1');
  });

  it('are watched as soon as their directory exists, and again when it was replaced [C11]', async () => {
    await rm(folder, { recursive: true });
    const { sets, become } = follow();
    await become('');
    assert.equal(sets.length, 1);
    await mkdir(folder);
    await write('web.yaml', aManifest('web'));
    await become('web-n1 img:1');
    await rename(folder, `${folder}.old`);
    await mkdir(folder);
    await write('db.yaml', aManifest('db'));
    await become('db-n1 img:1');
    await write('cache.yaml', aManifest('cache'));
    await become('cache-n1 img:1,db-n1 img:1');
  });

  it('survive an invalid file until the next listing [C14]', async () => {
    await write('db.yaml', aManifest('db'));
    await write('web.yaml', aManifest('web'));
    const { sets, become, problems } = follow(folder, 3_000);
    await become('db-n1 img:1,web-n1 img:1');
    // The new watch causes a second listing: after that the next one is most of a period away.
    await until(() => sets.length >= 2, watchMsMax);
    // Atomically: a write in two steps could be read half done, and be logged twice.
    await write('.next', 'kind: [');
    await rename(join(folder, '.next'), join(folder, 'web.yaml'));
    await until(() => problems().length > 0, watchMsMax);
    assert.equal(sets.at(-1), 'db-n1 img:1,web-n1 img:1');
    await become('db-n1 img:1');
    assert.equal(problems().length, 1);
  });

  it('are not read from hidden files, directories, pipes and files that are too large [C15]', async () => {
    await write('.web.yaml', aManifest('hidden'));
    await mkdir(join(folder, 'more'));
    await writeFile(join(folder, 'more', 'web.yaml'), aManifest('deeper'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await write('huge.yaml', `${aManifest('huge')}# ${'x'.repeat(manifestBytesMax)}`);
    await write('web.yaml', aManifest('web'));
    await symlink(join(folder, 'web.yaml'), join(folder, 'zzz.yaml'));
    const { become, problems } = follow();
    await become('web-n1 img:1');
    assert.deepEqual(problems().map(String).toSorted(), [
      `is larger than ${manifestBytesMax} bytes`,
      'is not a regular file',
      'is not a regular file',
    ]);
  });

  it('are read from a single file, also after it was replaced', async () => {
    const file = join(folder, 'web.yaml');
    await write('web.yaml', aManifest('web'));
    const { become } = follow(file);
    await become('web-n1 img:1');
    await write('web.yaml', aManifest('web', { image: 'img:2' }));
    await become('web-n1 img:2');
    for (const image of ['img:3', 'img:4']) {
      await write('next', aManifest('web', { image }));
      await rename(join(folder, 'next'), file);
      await become(`web-n1 ${image}`);
    }
    await rm(file);
    await become('');
    await write('web.yaml', aManifest('web', { image: 'img:5' }));
    await become('web-n1 img:5');
  });

  it('are read without an error whatever the path is', async () => {
    await write('file', '');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const look = (name: string) => new StaticPodFiles(join(folder, name)).look();
    assert.deepEqual(await look('none'), { kind: 'missing' });
    assert.deepEqual(await look('file'), { kind: 'file' });
    assert.deepEqual((await look('pipe')).kind, 'unusable');
    assert.deepEqual((await look('file/x')).kind, 'unusable');
    assert.deepEqual(await new StaticPodFiles(join(folder, 'file')).read(''), { kind: 'text', text: '' });
    const exact = 'x'.repeat(manifestBytesMax);
    await write('exact', exact);
    assert.deepEqual(await new StaticPodFiles(folder).read('exact'), { kind: 'text', text: exact });
    assert.deepEqual(await new StaticPodFiles(folder).read('none'), { kind: 'gone' });
    const watcher = { onArmed() {}, onTouched() {} };
    const { signal } = new AbortController();
    assert.deepEqual(await new StaticPodFiles(join(folder, 'none')).watch(watcher, signal), { kind: 'missing' });
    assert.deepEqual(await new StaticPodFiles(folder).watch(watcher, AbortSignal.abort()), { kind: 'ended' });
  });
});

describe('the text of a manifest', () => {
  it('is one document of YAML or JSON', () => {
    const { parse } = manifestText;
    assert.deepEqual(parse('{"a": [1]}'), { document: { a: [1] } });
    assert.deepEqual(parse('# remark\n---\na: &x [1]\nb: *x\n---\n'), { document: { a: [1], b: [1] } });
    assert.deepEqual(parse('{a: 1}'), { document: { a: 1 } });
    assert.deepEqual(parse(''), { problem: 'is empty' });
    assert.deepEqual(parse('a: 1\n---\nb: 2\n'), { problem: 'documents: must be exactly 1 (got 2)' });
    const broken = parse('a: [1');
    assert.ok('problem' in broken && broken.problem.includes('line 1'), JSON.stringify(broken));
    assert.deepEqual(parse('a: 1\na: 2\n'), { document: { a: 2 } });
  });

  it('is YAML 1.1, as kubelets read it', () => {
    const text =
      'spec: { hostNetwork: yes, terminationGracePeriodSeconds: 1_0, containers: [{ tty: On }],\n' +
      '  volumes: [{ downwardAPI: { defaultMode: 0400, items: [{ mode: 0644 }] } }] }\n';
    assert.deepEqual(manifestText.parse(text), {
      document: {
        spec: {
          hostNetwork: true,
          terminationGracePeriodSeconds: 10,
          containers: [{ tty: true }],
          volumes: [{ downwardAPI: { defaultMode: 256, items: [{ mode: 420 }] } }],
        },
      },
    });
  });

  it('is a problem if it is an alias bomb or nested too deeply, in bounded time', () => {
    for (const text of [aliasBomb, ...Object.values(deepTexts)]) assert.ok('problem' in manifestText.parse(text));
  });

  it('is identified by its MD5', () => assert.equal(manifestText.digest('abc'), '900150983cd24fb0d6963f7d28e17f72'));
});

function aJson(name: string): string {
  const spec = { containers: [{ name: 'c', image: 'img:1' }] };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'kube-system' }, spec });
}
