// The same sequences of creates, updates, patches and applies, drawn from a seed, on a real API server and on the embedded
// one: after each step the status code, the owners and the object are the same. FIELD_OWNERSHIP_SEEDS plays more of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, mergePatch } from '../contract/apiserver/client.ts';
import { Draw } from '../support/draw.ts';
import { startServerPair } from './server-pair.ts';

const seeds = Number(process.env['FIELD_OWNERSHIP_SEEDS'] ?? 12);
const stepsPerSeed = 12;
const applyPatch = 'application/apply-patch+yaml';
const managers = ['one', 'two', 'three'] as const;
const collection = '/apis/apps/v1/namespaces/default/deployments';

interface Step {
  readonly method: string;
  readonly query: string;
  readonly type: string;
  readonly body: Json;
  readonly endpoint: string;
}

class StepDraw extends Draw {
  step(name: string): Step {
    const manager = this.one(managers);
    const force = this.one([true, false]);
    const [kind, endpoint] = this.one([
      ['apply', ''],
      ['apply', ''],
      ['patch', ''],
      ['replace', ''],
      ['apply', '/status'],
      ['patch', '/status'],
    ] as const);
    const common = { query: `?fieldManager=${manager}`, endpoint };
    if (kind === 'apply') {
      const query = `${common.query}&force=${force}`;
      return { ...common, method: 'PATCH', query, type: applyPatch, body: this.#object(name, true) };
    }
    if (kind === 'replace')
      return { ...common, method: 'PUT', type: 'application/json', body: this.#object(name, false) };
    return { ...common, method: 'PATCH', type: mergePatch, body: this.#patch() };
  }

  #object(name: string, partial: boolean): Json {
    const labels = this.#labels();
    const spec = {
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a', ...labels } }, spec: this.#podSpec(partial) },
      ...this.#maybe('minReadySeconds', this.one([5, 6])),
    };
    const status = this.#status();
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec,
      ...this.#maybe('status', status),
    };
  }

  #podSpec(partial: boolean): Json {
    const chosen = this.some(['a', 'b', 'c']);
    const names = partial || chosen.length > 0 ? chosen : ['a'];
    return {
      ...this.#maybe('tolerations', [{ key: this.one(['k', 'l']), operator: 'Exists' }]),
      ...this.#maybe('nodeSelector', { disk: this.one(['ssd', 'hdd']) }),
      containers: (names.length === 0 ? ['a'] : names).map((name) => this.#container(name)),
    };
  }

  #container(name: string): Json {
    return {
      name,
      image: `registry/${name}:${this.one([1, 2])}`,
      ...this.#maybe(
        'env',
        this.some(['E', 'F']).map((key) => ({ name: key, value: this.one(['x', 'y']) })),
      ),
      ...this.#maybe(
        'ports',
        this.some([80, 81]).map((containerPort) => ({ containerPort })),
      ),
      ...this.#maybe('args', this.some(['v', 'w'])),
      ...this.#maybe('resources', { limits: { cpu: this.one(['1', '2']) } }),
    };
  }

  #status(): Json {
    const conditions = this.some(['P', 'Q']).map((type) => ({ type, status: this.one(['True', 'False']) }));
    const counts = { replicas: this.one([1, 2]), observedGeneration: this.one([1, 2]) };
    return { ...counts, ...this.#maybe('conditions', conditions) };
  }

  #patch(): Json {
    return this.one([
      { metadata: { labels: this.#labels() } },
      { metadata: { annotations: { note: this.one(['x', 'y', null]) } } },
      { spec: { minReadySeconds: this.one([5, 6, null]) } },
      { spec: { template: { spec: { nodeSelector: this.one([null, { disk: 'ssd' }]) } } } },
      { status: this.#status() },
      { metadata: { labels: null } },
    ]);
  }

  #labels(): Json {
    return Object.fromEntries(this.some(['l', 'm']).map((key) => [key, this.one(['x', 'y'])] as const));
  }

  #maybe(field: string, value: unknown): Json {
    return this.one([true, false]) ? { [field]: value } : {};
  }
}

const { embedded, real } = await startServerPair();

/** What of an answer both servers must agree on. */
function comparable({ code, body }: { readonly code: number; readonly body: Json }): Json {
  if (code >= 400) return { code, message: code === 409 ? sortLines(body.message) : '' };
  const { metadata, spec, status } = body;
  const { annotations, labels, generation, managedFields = [] } = metadata;
  const owners = managedFields.map(({ time, ...entry }: Json) => ({
    ...entry,
    timed: time !== undefined,
  }));
  return { code, labels, annotations, generation, spec, status, owners: sortEntries(owners) };
}

/** Entries of the same second have no order that both servers share. */
function sortEntries(entries: readonly Json[]): readonly string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort((a, b) => (a < b ? -1 : 1));
}

/** The order of managers and of their fields is the same on both, that of the summary too. */
function sortLines(message: string): readonly string[] {
  return message.split('\n').sort((a, b) => (a < b ? -1 : 1));
}

for (let seed = 1; seed <= seeds; seed += 1) {
  test(`seed ${seed}: both servers have the same owners after each step`, async () => {
    const draw = new StepDraw(seed);
    const name = `owned-${seed}`;
    for (let index = 0; index < stepsPerSeed; index += 1) {
      const { method, query, type, body, endpoint } = draw.step(name);
      const path = `${collection}/${name}${endpoint}${query}`;
      const [here, there] = await Promise.all(
        [embedded, real].map((client) => client.send(method, path, { type, body })),
      );
      assert.ok(here !== undefined && there !== undefined);
      const step = `step ${index}: ${method} ${path} ${JSON.stringify(body)}`;
      assert.deepEqual(comparable(here), comparable(there), `${step}\n${here.text}\n${there.text}`);
    }
  });
}
