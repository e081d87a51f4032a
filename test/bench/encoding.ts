// `npm run bench:encoding`: what the embedded API server spends on encoding pods as JSON and as protobuf, in alternating
// rounds of one process: lists of new objects, the same lists again, and events for one watch and for a hundred. CPU time,
// without HTTP; figures are printed and not checked. `-- --rounds=3 --pods=100` is a quick run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventEncoder } from '../../src/hollow-cluster/apiserver/http/event-encoder.ts';
import { JsonPresenter } from '../../src/hollow-cluster/apiserver/http/json-presenter.ts';
import type { Presenter } from '../../src/hollow-cluster/apiserver/http/presenter.ts';
import { ProtobufPresenter } from '../../src/hollow-cluster/apiserver/http/protobuf-presenter.ts';
import { decodeManagers } from '../../src/hollow-cluster/apiserver/managed-fields/manager-entry.ts';
import { servedResources } from '../../src/hollow-cluster/apiserver/resources.ts';
import type { StoreChange } from '../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { type Draft, StoredObject } from '../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeMachine } from './describe-machine.ts';
import { median } from './percentile.ts';

const rounds = argument('rounds', 15);
const count = argument('pods', 1_000);
const watches = 100;
const golden = join(import.meta.dirname, '..', 'contract', 'kube-api', 'golden', 'pods-rich.json');
const text = readFileSync(golden, 'utf8');
const served = servedResources.find(({ plural }) => plural === 'pods')!;
const form = { as: 'object', version: 'v1' } as const;
const presentation = { ...form, format: 'json', pretty: false, includeObject: 'Metadata' } as const;
const json = new JsonPresenter(served, presentation, new ManualClock());
const protobuf = new ProtobufPresenter(served, form);

function argument(name: string, standard: number): number {
  return Number(process.argv.find((given) => given.startsWith(`--${name}=`))?.split('=')[1] ?? standard);
}

/** As they are after they were written: values, without bytes. */
function newPods(): readonly StoredObject[] {
  return Array.from({ length: count }, (_, index) => {
    const draft: Draft = JSON.parse(text);
    const { managedFields, ...metadata } = draft.metadata;
    const name = `pod-${index}`;
    const located = {
      key: `default/${name}`,
      namespace: 'default',
      name,
      uid: 'u',
      revision: 1,
      labels: {},
      fields: {},
    } as const;
    return new StoredObject(located, { ...draft, metadata: { ...metadata, name } }, decodeManagers(managedFields));
  });
}

function list(presenter: Presenter, pods: readonly StoredObject[]): number {
  let bytes = 0;
  for (const part of presenter.list({ resourceVersion: '1' }, pods)) bytes += part.length;
  return bytes;
}

/** The events of changes, for so many watches. */
function send(presenter: Presenter, pods: readonly StoredObject[], times: number): void {
  const encoder = new EventEncoder();
  for (const object of pods) {
    const change: StoreChange = { kind: 'added', revision: 1, object, previous: undefined, atMs: 0 };
    for (let watch = 0; watch < times; watch += 1) encoder.encode(change, 'ADDED', presenter, false);
  }
}

function spend(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Prints the median CPU time in both forms. `prepare` is not measured; the rounds alternate. */
function compare(what: string, prepare: (presenter: Presenter) => () => unknown): void {
  const spent: Record<'protobuf' | 'json', number[]> = { protobuf: [], json: [] };
  for (let round = 0; round < rounds; round += 1) {
    spent.protobuf.push(spend(prepare(protobuf)));
    spent.json.push(spend(prepare(json)));
  }
  const [first, second] = [median(spent.protobuf), median(spent.json)];
  console.log(
    `${what.padEnd(44)} ${first.toFixed(1).padStart(7)} ms protobuf ${second.toFixed(1).padStart(7)} ms JSON`,
  );
}

console.log(describeMachine());
const sizes = [protobuf, json].map((presenter) => Math.round(list(presenter, newPods()) / count));
console.log(`${count} pods of ${sizes[0]} bytes in protobuf and ${sizes[1]} in JSON`);
compare('a list of new objects', (presenter) => {
  const pods = newPods();
  return () => list(presenter, pods);
});
compare('the same list again', (presenter) => {
  const pods = newPods();
  list(presenter, pods);
  return () => list(presenter, pods);
});
compare('a list of objects whose JSON is kept', (presenter) => {
  const pods = newPods();
  list(json, pods);
  return () => list(presenter, pods);
});
for (const times of [1, watches]) {
  compare(`an event for each object, ${times} watch${times === 1 ? '' : 'es'}`, (presenter) => {
    const pods = newPods();
    return () => send(presenter, pods, times);
  });
}
