// `nlc apiserver --data-dir` is killed in the middle of writes, many times; each restart is compared with what was
// acknowledged. NLC_CRASH_ROUNDS and NLC_CRASH_SEED make it longer, or repeat a run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { SeededRandom } from '../support/fakes.ts';
import { tempFolder } from '../support/temp-folder.ts';

const rounds = Number(process.env['NLC_CRASH_ROUNDS'] ?? 3);
const seed = Number(process.env['NLC_CRASH_SEED'] ?? Date.now() % 1_000_000);
const writers = 6;
const namesOfWriter = 5;
const killAfterMsMin = 150;
const killAfterMsRange = 350;

const nodes = '/api/v1/nodes';

/** What is known of one object: its last acknowledged state, and the write that was not answered. */
interface Known {
  acknowledged: { readonly uid: string; readonly version: number } | undefined;
  unanswered: 'create' | 'patch' | 'delete' | undefined;
}

interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

interface Answer {
  readonly code: number;
  readonly body: unknown;
}

class Server {
  readonly process: NlcProcess;
  readonly #folder: string;
  url = '';
  token = '';

  constructor(folder: string) {
    this.#folder = folder;
    const flags = [`--data-dir=${join(folder, 'data')}`, `--kubeconfig-out=${join(folder, 'kubeconfig')}`];
    this.process = new NlcProcess(['apiserver', '--tls=false', '--port=0', ...flags, '--log-format=json']);
  }

  async ready(): Promise<void> {
    while (!this.process.stdout.includes('press Ctrl-C')) {
      if (this.process.hasEnded) throw new Error(`the server ended: ${this.process.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.url = /listening on (\S+),/.exec(this.process.stdout)?.[1] ?? '';
    this.token = /token: (\S+)/.exec(readFileSync(join(this.#folder, 'kubeconfig'), 'utf8'))?.[1] ?? '';
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { code: response.status, body: await response.json() };
  }

  async nodes(): Promise<ReadonlyMap<string, Stored>> {
    const { items } = (await this.send('GET', nodes)).body as { readonly items: readonly Stored[] };
    return new Map(items.map((node) => [node.metadata.name, node] as const));
  }
}

/** Writes to its own objects, one after the other, until the server does not answer. */
async function write(
  server: Server,
  known: Map<string, Known>,
  names: readonly string[],
  random: SeededRandom,
): Promise<void> {
  for (let count = 0; ; count += 1) {
    const name = names[Math.floor(random.next() * names.length)] ?? '';
    const state = known.get(name) ?? { acknowledged: undefined, unanswered: undefined };
    known.set(name, state);
    const operation = nextOperation(state, random);
    state.unanswered = operation;
    const metadata = { name, annotations: { count: String(count), padding: 'x'.repeat(random.next() * 3_000) } };
    const answer = await carryOut(server, operation, metadata).catch(() => undefined);
    if (answer === undefined) return;
    assert.ok(answer.code < 300, `${operation} ${name}: ${JSON.stringify(answer.body)}`);
    const { metadata: written } = answer.body as Stored;
    const kept = operation !== 'delete';
    state.acknowledged = kept ? { uid: written.uid, version: Number(written.resourceVersion) } : undefined;
    state.unanswered = undefined;
  }
}

function nextOperation({ acknowledged }: Known, random: SeededRandom): 'create' | 'patch' | 'delete' {
  if (acknowledged === undefined) return 'create';
  return random.next() < 0.2 ? 'delete' : 'patch';
}

function carryOut(
  server: Server,
  operation: 'create' | 'patch' | 'delete',
  metadata: { readonly name: string },
): Promise<Answer> {
  const path = `${nodes}/${metadata.name}`;
  if (operation === 'create') return server.send('POST', nodes, { metadata });
  return operation === 'patch' ? server.send('PATCH', path, { metadata }) : server.send('DELETE', path);
}

/** Problems of what is stored after the restart, compared with what was acknowledged before. */
function compare(known: ReadonlyMap<string, Known>, stored: ReadonlyMap<string, Stored>): readonly string[] {
  const problems: string[] = [];
  for (const [name, { acknowledged, unanswered }] of known) {
    const found = stored.get(name)?.metadata;
    if (acknowledged === undefined) {
      if (found !== undefined && unanswered !== 'create') problems.push(`${name} was deleted and is back`);
    } else if (found === undefined) {
      if (unanswered !== 'delete') problems.push(`${name} was acknowledged and is missing`);
    } else if (found.uid !== acknowledged.uid || Number(found.resourceVersion) < acknowledged.version) {
      problems.push(`${name} has version ${found.resourceVersion} instead of ${acknowledged.version}`);
    } else if (unanswered === undefined && Number(found.resourceVersion) !== acknowledged.version) {
      problems.push(`${name} has a write that was not made: ${found.resourceVersion} > ${acknowledged.version}`);
    }
  }
  for (const name of stored.keys()) if (!known.has(name)) problems.push(`${name} was never written`);
  return problems;
}

/** What the restarted server has counts as acknowledged. */
function adopt(known: Map<string, Known>, stored: ReadonlyMap<string, Stored>): void {
  for (const [name, state] of known) {
    const found = stored.get(name)?.metadata;
    state.acknowledged = found === undefined ? undefined : { uid: found.uid, version: Number(found.resourceVersion) };
    state.unanswered = undefined;
  }
}

test(`what was acknowledged before kill -9 is there afterwards (seed ${seed}, ${rounds} rounds)`, {
  timeout: 30_000 + rounds * 10_000,
}, async (t) => {
  const folder = tempFolder();
  const random = new SeededRandom(seed);
  const known = new Map<string, Known>();
  let acknowledged = 0;
  let lastVersion = 0;
  let token = '';
  for (let round = 0; round <= rounds; round += 1) {
    const server = new Server(folder);
    t.after(() => server.process.kill());
    await server.ready();
    token ||= server.token;
    assert.equal(server.token, token);
    const stored = await server.nodes();
    assert.deepEqual(compare(known, stored), [], `round ${round}`);
    const next = await server.send('POST', '/api/v1/namespaces', { metadata: { name: `round-${round}` } });
    assert.ok(Number((next.body as Stored).metadata.resourceVersion) > lastVersion, 'versions went back');
    adopt(known, stored);
    if (round === rounds) break;
    const running = Array.from({ length: writers }, (_, writer) => {
      const names = Array.from({ length: namesOfWriter }, (__, index) => `node-${writer}-${index}`);
      return write(server, known, names, new SeededRandom(seed + round * 100 + writer));
    });
    await new Promise((resolve) => setTimeout(resolve, killAfterMsMin + random.next() * killAfterMsRange));
    await server.process.kill();
    await Promise.all(running);
    const versions = [...known.values()].map((state) => state.acknowledged?.version ?? 0);
    lastVersion = Math.max(lastVersion, ...versions);
    acknowledged += versions.filter((version) => version > 0).length;
  }
  assert.ok(acknowledged > rounds, 'too few writes to compare');
});

test('a full disk fails writes with 500 and a clear message, reads go on, and writes continue when there is space', {
  timeout: 40_000,
  skip: platform() === 'linux' ? false : 'prlimit is part of Linux',
}, async (t) => {
  const folder = tempFolder();
  const server = new Server(folder);
  t.after(() => server.process.kill());
  await server.ready();
  // Writes beyond this size fail as on a full disk.
  limitFiles(server.process.pid, '400000');
  const written: string[] = [];
  const create = async (name: string): Promise<Answer> => {
    const answer = await server.send('POST', nodes, {
      metadata: { name, annotations: { padding: 'x'.repeat(4_000) } },
    });
    if (answer.code === 201) written.push(name);
    return answer;
  };
  let answer = await create('n-0');
  for (let index = 1; index < 300 && answer.code === 201; index += 1) answer = await create(`n-${index}`);
  assert.equal(answer.code, 500);
  const { message } = answer.body as { readonly message: string };
  assert.match(message, /^Internal error occurred: .*objects\.db cannot be (written|read or written)/);
  assert.deepEqual([...(await server.nodes()).keys()], written.toSorted());

  limitFiles(server.process.pid, 'unlimited');
  assert.equal((await create('with-space')).code, 201);
  limitFiles(server.process.pid, '100000');
  assert.deepEqual(await server.process.terminate(), { code: 0, signal: null }, server.process.stderr);
  const restarted = new Server(folder);
  t.after(() => restarted.process.kill());
  await restarted.ready();
  assert.deepEqual([...(await restarted.nodes()).keys()], written.toSorted());
});

function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
}
