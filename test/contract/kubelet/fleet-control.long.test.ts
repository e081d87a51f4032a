import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { run } from '../../../src/cli/commands/hollow-nodes.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';
import { firstSnapshot } from '../../support/first-snapshot.ts';
import { until } from '../../support/small-world.ts';

const waitMs = 30_000;

interface Page {
  readonly status: number;
  readonly body: string;
}

/** A request with its own Host header goes through node:http: fetch does not send one. */
async function ask(url: string, init: RequestInit = {}): Promise<Page> {
  const response = await fetch(url, init);
  return { status: response.status, body: await response.text() };
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

describe('the control pages of hollow nodes, and fault scripts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-fleet-control-'));
  const file = (name: string): string => join(folder, name);
  const life = new AbortController();
  const said: string[] = [];
  let server: RunningApiServer;
  let running: Promise<number>;
  let url = '';

  const io = {
    stdout: (text: string) => void said.push(text),
    stderr: (text: string) => void said.push(text),
    env: {},
    signal: life.signal,
  };

  before(async () => {
    const dependencies = { clock: new SystemClock(), random: new SeededRandom(1), logger: new RecordingLogger() };
    server = await startApiServer({ ...dependencies, port: 0 });
    writeFileSync(file('kubeconfig'), server.kubeconfig(), { mode: 0o600 });
    writeFileSync(file('token'), 'open sesame\n');
    writeFileSync(
      file('script.yaml'),
      [
        '- at: 100ms',
        '  selector: { zone: hollow-1, share: 50% }',
        '  action: { kind: partition, id: scripted, for: 1s }',
        '- { at: 200ms, selector: { names: [no-such-node] }, action: { kind: unhealthy } }',
      ].join('\n'),
    );
    running = run(
      [
        '--nodes=12',
        '--zones=3',
        `--kubeconfig=${file('kubeconfig')}`,
        '--control-address=127.0.0.1:0',
        '--lease-duration=4s',
        '--node-status-update-frequency=1s',
        '--seed=7',
        '--log-format=json',
        '--v=0',
        `--script=${file('script.yaml')}`,
        `--ground-truth-log=${file('truth.log')}`,
        '--register-with-taints=dedicated=test:NoSchedule',
        '--max-pods=17',
        '--profile=v1.37',
      ],
      io,
    );
    await until('an address', waitMs, async () => /control address (http:\S+):/.test(said.join('')));
    url = /control address (http:\S+):/.exec(said.join(''))?.[1] ?? '';
    await until('all registered', waitMs, async () => (await ask(`${url}/readyz`)).status === 200);
  });

  after(async () => {
    life.abort();
    assert.equal(await running, 0);
    await server.close();
    assert.match(said.join(''), /12 of 12 nodes were registered, 12 were Ready at the end/);
    assert.match(said.join(''), /lease renewals in .* MiB/);
    rmSync(folder, { recursive: true, force: true });
  });

  it('report the state of the run and of each node', async () => {
    await until('all ready', waitMs, async () => JSON.parse((await ask(`${url}/status`)).body).ready === 12);
    const status = JSON.parse((await ask(`${url}/status`)).body);
    assert.equal(status.nodes, 12);
    assert.deepEqual([typeof status.lateness.p99Ms, typeof status.validLoadTest], ['number', 'boolean']);
    const { count, nodes } = JSON.parse((await ask(`${url}/nodes?zone=hollow-2&names=hollow-node-1*`)).body);
    assert.equal(count, 2);
    const seen = nodes.map(
      ({ name, registered }: { readonly name: string; readonly registered: boolean }) => `${name} ${registered}`,
    );
    assert.deepEqual(seen, ['hollow-node-1 true', 'hollow-node-10 true']);
    const wrong = await ask(`${url}/nodes?zones=a`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.body, /zones: unknown field/);
  });

  it('serve the pods of a node as its kubelet does', async () => {
    const containers = [{ name: 'c', image: 'i:1' }];
    const pod = { metadata: { name: 'web' }, spec: { nodeName: 'hollow-node-4', containers } };
    assert.equal((await send('/api/v1/namespaces/default/pods', pod)).code, 201);
    const list = async () => JSON.parse((await ask(`${url}/nodes/hollow-node-4/pods`)).body);
    await until('a running pod', waitMs, async () => (await list()).items[0]?.status.phase === 'Running');
    const { kind, apiVersion, items } = await list();
    assert.deepEqual([kind, apiVersion, items.length, items[0].spec.nodeName], ['PodList', 'v1', 1, 'hollow-node-4']);
    assert.deepEqual(JSON.parse((await ask(`${url}/nodes/hollow-node-5/pods`)).body).items, []);
    for (const path of ['nodes/no-such-node/pods', 'nodes/hollow-node-4', 'nodes/hollow-node-4/pods/web'])
      assert.equal((await ask(`${url}/${path}`)).status, 404, path);
  });

  it('inject faults, list them and withdraw them', async () => {
    const order = { selector: { count: 3 }, action: { kind: 'unhealthy', reason: 'dust', id: 'dusty' } };
    const created = await ask(`${url}/faults`, post(order));
    assert.equal(created.status, 201);
    assert.equal(JSON.parse(created.body).active, 3);
    await until('three not ready', waitMs, async () => JSON.parse((await ask(`${url}/status`)).body).ready === 9);
    const shown = JSON.parse((await ask(`${url}/faults/dusty`)).body);
    assert.equal(shown.nodes.length, 3);
    assert.equal((await ask(`${url}/faults`, post(order))).status, 409);
    assert.match((await ask(`${url}/metrics`)).body, /hollow_nodes_active_faults\{kind="unhealthy"\} 3/);
    assert.equal((await ask(`${url}/faults/dusty`, { method: 'DELETE' })).status, 200);
    assert.equal((await ask(`${url}/faults/never`, { method: 'DELETE' })).status, 404);
    await until('all ready again', waitMs, async () => JSON.parse((await ask(`${url}/status`)).body).ready === 12);
    assert.equal((await ask(`${url}/faults`, { method: 'DELETE' })).status, 200);
    assert.match((await ask(`${url}/metrics`)).body, /hollow_nodes_active_faults\{kind="unhealthy"\} 0/);
  });

  it('serve a dashboard whose actions cut nodes off and undo it', async () => {
    assert.match((await ask(`${url}/dashboard`)).body, /<!doctype html>/i);
    const before = await firstSnapshot(url);
    assert.deepEqual(
      [before.server.kind, before.server.actionKinds, before.nodes.length],
      ['hollow-nodes', ['cut', 'undo'], 12],
    );
    const zones = before.zones.map(({ name, condition, waiting }) => [name, condition, waiting]);
    assert.deepEqual(
      zones,
      [1, 2, 3].map((zone) => [`hollow/hollow-${zone}`, null, null]),
    );

    const cut = await ask(`${url}/dashboard/actions`, post({ kind: 'cut', zone: 'hollow/hollow-2', share: 0.5 }));
    assert.deepEqual(
      [cut.status, JSON.parse(cut.body)],
      [200, { text: 'cut 2 nodes off from the API server until it is undone' }],
    );
    await until('two suspect nodes of that zone, and the fault as a banner', waitMs, async () => {
      const { nodes, cluster } = await firstSnapshot(url);
      const suspect = nodes.filter(({ state, zone }) => state === 'suspect' && zone === 'hollow/hollow-2');
      return (
        suspect.length === 2 && cluster.holds.some(({ why }) => /^fault fault-\d+ on 2 nodes: partition/.test(why))
      );
    });

    assert.equal((await ask(`${url}/dashboard/actions`, post({ kind: 'undo' }))).status, 200);
    await until('no suspect node', waitMs, async () =>
      (await firstSnapshot(url)).nodes.every(({ state }) => state === 'ready'),
    );
  });

  it('reject actions of another site, and those that hollow nodes do not have', async () => {
    const undo = post({ kind: 'undo' });
    const headers = { 'content-type': 'application/json', origin: 'http://example.com' };
    const foreign = { ...undo, headers };
    assert.equal((await ask(`${url}/dashboard/actions`, foreign)).status, 403);
    assert.equal((await ask(`${url}/faults`, foreign)).status, 403);
    const stall = await ask(`${url}/dashboard/actions`, post({ kind: 'stall-api' }));
    assert.match(stall.body, /kind: must be one of cut, undo \(got \\"stall-api\\"\)/);
  });

  it('reject an unknown fault, invalid JSON, and form posts', async () => {
    const wrong = await ask(`${url}/faults`, post({ selector: {}, action: { kind: 'rust' } }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.body, /action.kind: must be one of silence, lag.*\(got \\"rust\\"\)/);
    const form = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' };
    assert.equal((await ask(`${url}/faults`, form)).status, 415);
    const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' };
    assert.equal((await ask(`${url}/faults`, broken)).status, 400);
    assert.equal((await ask(`${url}/status`, post({}))).status, 405);
    assert.equal((await ask(`${url}/faults`, { method: 'PUT' })).status, 405);
  });

  it('a script runs once all nodes are registered, and the ground-truth log records its changes', async () => {
    const truths = (): readonly { readonly fault: string; readonly change: string; readonly node: string }[] =>
      readFileSync(file('truth.log'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    await until(
      'end of the fault on both nodes of zone 1',
      waitMs,
      async () => truths().filter(({ change, fault }) => change === 'end' && fault === 'scripted').length === 2,
    );
    const scripted = truths().filter(({ fault }) => fault === 'scripted');
    const seen = scripted.map(({ change }) => change);
    assert.deepEqual(seen, ['begin', 'begin', 'end', 'end']);
    assert.match(said.join(''), /seed: 7/);
  });

  it('nodes are registered with the taints and the pod capacity of the flags', async () => {
    const { stdout, code } = await nodeObject('hollow-node-3');
    assert.equal(code, 200);
    assert.match(stdout, /"key":"dedicated"/);
    assert.match(stdout, /"pods":"17"/);
  });

  it('are not served on all interfaces without a token, nor with an unreadable or empty token file', async () => {
    const refused: string[] = [];
    const quiet = { ...io, stderr: (text: string) => void refused.push(text), signal: AbortSignal.abort() };
    const base = [`--kubeconfig=${file('kubeconfig')}`, '--control-address=:0'];
    assert.equal(await run(base, quiet), 2);
    assert.match(refused.join(''), /--control-address: must have a loopback host.* \(got host ""\)/);
    writeFileSync(file('blank'), ' \n');
    for (const path of ['/nonexistent', folder, file('blank')]) {
      refused.length = 0;
      assert.equal(await run([...base, `--control-token-file=${path}`], quiet), 2);
      const message = `--control-token-file: must be a readable file with a token that is not empty (got "${path}")`;
      assert.ok(refused.join('').includes(message), refused.join(''));
    }
  });

  const nodeObject = (name: string) => send(`/api/v1/nodes/${name}`);

  /** To the API server: a GET, or a POST of this object. */
  async function send(path: string, object?: object): Promise<{ readonly stdout: string; readonly code: number }> {
    const { request } = await import('node:https');
    return new Promise((resolve, reject) => {
      const method = object === undefined ? 'GET' : 'POST';
      const headers = { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' };
      request(`${server.url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
        let stdout = '';
        response.on('data', (chunk) => (stdout += chunk));
        response.on('end', () => resolve({ stdout, code: response.statusCode ?? 0 }));
      })
        .on('error', reject)
        .end(object === undefined ? undefined : JSON.stringify(object));
    });
  }
});
