// The same sequences of writes to a Deployment and to its Scale, drawn from a seed, on a real API server and on the embedded
// one: after each step the status code, the Scale and the owners of the Deployment are the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Json, mergePatch } from '../contract/apiserver/client.ts';
import { Draw } from '../support/draw.ts';
import { startServerPair } from './server-pair.ts';

const seeds = Number(process.env['FIELD_OWNERSHIP_SEEDS'] ?? 12);
const stepsPerSeed = 12;
const applyPatch = 'application/apply-patch+yaml';
const managers = ['one', 'two', 'three'] as const;
const collection = '/apis/apps/v1/namespaces/default/deployments';

interface Step {
  readonly method: string;
  /** Below the object. */
  readonly path: string;
  readonly type: string;
  readonly body: Json;
}

class StepDraw extends Draw {
  step(name: string): Step {
    const query = `?fieldManager=${this.one(managers)}`;
    const applied = `${query}&force=${this.one([true, false])}`;
    const replicas = this.one([0, 1, 2, 3]);
    const labels = { l: this.one(['x', 'y']) };
    const main = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, ...this.#maybe({ labels }) } };
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name } };
    return this.one<Step>([
      { method: 'PATCH', path: `/scale${query}`, type: mergePatch, body: { spec: { replicas } } },
      { method: 'PUT', path: `/scale${query}`, type: 'application/json', body: { ...scale, spec: { replicas } } },
      {
        method: 'PATCH',
        path: `/scale${applied}`,
        type: applyPatch,
        body: { ...scale, ...this.#maybe({ spec: { replicas } }) },
      },
      {
        method: 'PATCH',
        path: query,
        type: mergePatch,
        body: { ...this.#maybe({ metadata: { labels } }), spec: { replicas } },
      },
      { method: 'PATCH', path: applied, type: applyPatch, body: { ...main, spec: this.#maybe({ replicas }) } },
      { method: 'PATCH', path: query, type: mergePatch, body: { metadata: { labels } } },
      { method: 'PATCH', path: query, type: mergePatch, body: { metadata: { managedFields: [{}] } } },
    ]);
  }

  #maybe(fields: Json): Json {
    return this.one([true, true, false]) ? fields : {};
  }
}

const { embedded, real } = await startServerPair();

/** What of the answer to a step both servers must agree on. */
function comparable({ code, body }: { readonly code: number; readonly body: Json }): Json {
  if (code >= 400) return { code, message: code === 409 ? sortLines(body.message) : '' };
  const { kind, spec, status, metadata } = body;
  return kind === 'Scale' ? { code, spec, status, owners: metadata.managedFields } : { code };
}

/** The order of managers and of their fields is not part of the comparison, and neither is what precedes the first one. */
function sortLines(message: string): readonly string[] {
  const lines = message.split('\n').map((line) => line.replace(/^Apply failed with .*?: /u, ''));
  return lines.sort((a, b) => (a < b ? -1 : 1));
}

/** Owners and replicas of the Deployment after a step. */
async function stateOf(client: Client, name: string): Promise<Json> {
  const { body } = await client.get(`${collection}/${name}`);
  const { managedFields = [], labels, generation } = body.metadata;
  const owners = managedFields.map(({ time, ...entry }: Json) =>
    JSON.stringify({ ...entry, timed: time !== undefined }),
  );
  return { owners: owners.sort(), labels, generation, replicas: body.spec.replicas };
}

function deployment(name: string): Json {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'registry/a:1' }] } };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
}

for (let seed = 1; seed <= seeds; seed += 1) {
  test(`seed ${seed}: both servers have the same owners after each step`, async () => {
    const draw = new StepDraw(seed);
    const name = `scaled-${seed}`;
    for (const client of [embedded, real]) {
      const path = `${collection}?fieldManager=creator`;
      const { code, text } = await client.send('POST', path, { type: 'application/json', body: deployment(name) });
      assert.equal(code, 201, text);
    }
    for (let index = 0; index < stepsPerSeed; index += 1) {
      const { method, path, type, body } = draw.step(name);
      const send = (client: Client) => client.send(method, `${collection}/${name}${path}`, { type, body });
      const [here, there] = [await send(embedded), await send(real)];
      const step = `step ${index}: ${method} ${path} ${JSON.stringify(body)}`;
      assert.deepEqual(comparable(here), comparable(there), `${step}\n${here.text}\n${there.text}`);
      const [left, right] = [await stateOf(embedded, name), await stateOf(real, name)];
      assert.deepEqual(left, right, `${step}\n${JSON.stringify(left)}\n${JSON.stringify(right)}`);
    }
  });
}
