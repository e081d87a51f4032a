// `nlc record` beside an API server, and `nlc simulate` of what it wrote.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTrace } from '../../src/cli/simulate/trace-file.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const soonMs = 30_000;

test('a silent node of a live cluster is recorded, and simulated under other settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-record-'));
  try {
    await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', b0: 'b' } });
    await world.addPod('p', 'a0', []);
    const file = join(folder, 'trace.jsonl');
    const revision = world.server.revision();
    await using recording = new NlcProcess([
      'record',
      `--kubeconfig=${world.kubeconfigFile}`,
      `--out=${file}`,
      '--gap=3s',
    ]);
    await until('the recording runs', soonMs, async () => recording.stdout.includes('recording 3 nodes'));
    world.fleet.cutOff(['a0']);
    await new Promise((resolve) => {
      setTimeout(resolve, 6_000);
    });
    world.fleet.reconnect(['a0']);
    await until('the gap has ended', soonMs, async () => /"gap":/.test(readFileSync(file, 'utf8')));
    recording.signal('SIGTERM');
    assert.deepEqual(await recording.exited, { code: 0, signal: null });
    assert.ok(world.server.revision() > revision, 'the kubelets wrote meanwhile');

    const read = readTrace(readFileSync(file, 'utf8'));
    assert.ok('value' in read);
    const { records, end } = read.value;
    assert.equal(end?.end, 'stopped');
    const gaps = records.filter(({ gap }) => gap !== undefined);
    assert.deepEqual(
      gaps.map(({ node }) => node),
      ['a0'],
    );
    assert.ok((gaps[0]?.gap ?? 0) > 5, JSON.stringify(gaps));
    assert.deepEqual(records.find(({ pods }) => pods !== undefined)?.pods, { '300': 1 });

    await using again = new NlcProcess(['record', `--kubeconfig=${world.kubeconfigFile}`, `--out=${file}`]);
    assert.deepEqual(await again.exited, { code: 1, signal: null });
    assert.match(again.stderr, /--out: .*EEXIST/);

    await using simulated = new NlcProcess(['simulate', `--trace=${file}`]);
    assert.deepEqual(await simulated.exited, { code: 0, signal: null });
    assert.match(simulated.stdout, /^trace trace\.jsonl: 3 nodes in 2 zones, 1 pods/m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
