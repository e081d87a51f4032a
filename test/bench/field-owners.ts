// `npm run bench:field-owners`: what field ownership costs the embedded API server. Each kind of write is measured with and
// without owners in alternating rounds of the same process: without HTTP, from the bytes of a request to those of the response
// and of a watch event, and over HTTPS, as CPU time of a server with one watch of each resource. Then the memory of a server's
// objects. Figures are printed and not checked. `-- --writes=200 --scale=0.1` is a quick run, `--only=registry|http|memory`
// one of the parts, `--kind=pod` one of the kinds of writes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { JsonPresenter } from '../../src/hollow-cluster/apiserver/http/json-presenter.ts';
import { ObjectRegistry, type Written } from '../../src/hollow-cluster/apiserver/registry/object-registry.ts';
import type { Target } from '../../src/hollow-cluster/apiserver/registry/request-target.ts';
import { ServedTargets } from '../../src/hollow-cluster/apiserver/registry/served-targets.ts';
import { makeStrategies } from '../../src/hollow-cluster/apiserver/kinds/strategies.ts';
import { servedResources } from '../../src/hollow-cluster/apiserver/resources.ts';
import { VersionedStore } from '../../src/hollow-cluster/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../support/fakes.ts';
import { describeMachine } from './describe-machine.ts';
import type { MemoryFigures } from './owner-memory.ts';
import { encode, HeartbeatClock, type Json, listStreams, makeEvent, type WriteStream } from './owned-writes.ts';
import { OwnerHttpBench } from './owner-http.ts';
import { median } from './percentile.ts';

const writes = Number(argument('writes') ?? 2_000);
const scale = Number(argument('scale') ?? 1);
const only = argument('only');
const pairs = 7;
const writeOptions = { dryRun: false, fieldValidation: 'Warn' } as const;

function argument(name: string): string | undefined {
  return process.argv.find((text) => text.startsWith(`--${name}=`))?.split('=')[1];
}

/** Carries out writes with these numbers, with or without owners; resolves with the CPU seconds they took. */
type Round = (owned: boolean, from: number, count: number) => Promise<number>;

/** The median of the ratios of pairs, which begin with the one or the other in turns. */
async function compare(what: string, round: Round): Promise<void> {
  if (!what.startsWith(argument('kind') ?? '')) return;
  let next = 1;
  const spend = async (owned: boolean): Promise<number> => {
    const seconds = await round(owned, next, writes);
    next += writes;
    return (seconds / writes) * 1e6;
  };
  for (const owned of [true, false]) await spend(owned);
  const costs: { readonly with: number; readonly without: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const first = await spend(pair % 2 === 0);
    const second = await spend(pair % 2 !== 0);
    costs.push(pair % 2 === 0 ? { with: first, without: second } : { with: second, without: first });
  }
  const ratios = costs.map((cost) => cost.with / cost.without);
  const [less, more] = [costs.map((cost) => cost.without), costs.map((cost) => cost.with)].map(median);
  const least = Math.min(...costs.map((cost) => cost.with)) / Math.min(...costs.map((cost) => cost.without));
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, of the lowest ${least.toFixed(2)}`;
  console.log(
    `${what.padEnd(22)} ${less?.toFixed(1).padStart(7)} µs without, ${more?.toFixed(1).padStart(7)} µs with owners: ` +
      `${median(ratios).toFixed(2)} (${range})`,
  );
}

/** A registry without HTTP. */
class RegistryBench {
  readonly #clock = new HeartbeatClock();
  readonly #strategies = makeStrategies(300);
  readonly #store = new VersionedStore({ clock: this.#clock, resources: [...this.#strategies.keys()] });
  readonly #registry = new ObjectRegistry(this.#store, this.#clock, new SeededRandom(1));
  readonly #targets = new ServedTargets(servedResources, this.#strategies);

  constructor() {
    for (const name of ['kube-node-lease', 'team-001']) {
      this.#registry.create(this.#targets.of('', 'namespaces'), { metadata: { name } }, writeOptions);
    }
  }

  async run(): Promise<void> {
    for (const [index, owned] of listStreams(1).entries()) {
      const plain = listStreams(2)[index];
      if (plain === undefined) throw new Error('the same streams are expected for each object');
      this.#create(owned, true);
      this.#create(plain, false);
      await compare(owned.what, async (isOwned, from, count) => {
        const stream = isOwned ? owned : plain;
        return this.#spend(from, count, stream.bodies(this.#read(stream)), this.#writerOf(stream, isOwned));
      });
    }
    const target = { ...this.#targets.of('', 'events'), namespace: 'team-001' };
    await compare('event creation', async (isOwned, from, count) => {
      const options = { ...writeOptions, ...managerOf(isOwned, 'kubelet') };
      const create = (body: unknown): Written => this.#registry.create(target, body, options);
      return this.#spend(from, count, (number) => encode(makeEvent(number)), { target, carryOut: create });
    });
  }

  #create(stream: WriteStream, isOwned: boolean): void {
    const target = { ...this.#targetOf(stream), endpoint: '' } as const;
    const options = { ...writeOptions, ...managerOf(isOwned, stream.creator) };
    this.#registry.create({ ...target, name: undefined }, stream.object, options);
    const status = { target: { ...target, endpoint: 'status' } as const, body: { status: stream.object['status'] } };
    if (stream.endpoint !== 'status') return;
    const kubelet = { ...writeOptions, ...managerOf(isOwned, 'kubelet') };
    this.#registry.patch(status.target, { type: 'merge', body: status.body }, kubelet);
  }

  #read(stream: WriteStream): Json {
    return this.#registry.get(this.#targetOf(stream)).presented();
  }

  #targetOf({ group, plural, namespace, name, endpoint }: WriteStream): Target {
    return { ...this.#targets.of(group, plural), namespace, name, endpoint };
  }

  #writerOf(stream: WriteStream, isOwned: boolean): Writer {
    const target = this.#targetOf(stream);
    const options = { ...writeOptions, ...managerOf(isOwned, 'kubelet') };
    const carryOut = (body: unknown): Written =>
      stream.method === 'PUT'
        ? this.#registry.update(target, body, options)
        : this.#registry.patch(target, { type: 'strategic-merge', body }, options);
    return { target, carryOut };
  }

  #spend(from: number, count: number, body: Body, { target, carryOut }: Writer): number {
    const form = { format: 'json', as: 'object', version: 'v1', pretty: false, includeObject: 'Metadata' } as const;
    const known = target.name === undefined ? undefined : this.#registry.get(target);
    let version = String(known?.revision);
    const before = process.cpuUsage();
    for (let index = from; index < from + count; index += 1) {
      const presenter = new JsonPresenter(target.served, form, this.#clock);
      const { object } = carryOut(JSON.parse(body(index, version).toString()));
      version = String(object.revision);
      presenter.object(object);
      presenter.event('MODIFIED', object, false);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  }
}

type Body = (index: number, version: string) => Buffer;

interface Writer {
  readonly target: Target;
  readonly carryOut: (body: unknown) => Written;
}

function managerOf(isOwned: boolean, manager: string): { readonly manager?: string } {
  return isOwned ? { manager } : {};
}

async function measureHttp(): Promise<void> {
  const bench = await OwnerHttpBench.start();
  try {
    for (const what of bench.streams)
      await compare(what, (owned, from, count) => bench.round(what, owned, from, count));
  } finally {
    await bench.close();
  }
}

async function measureMemory(): Promise<void> {
  for (const owners of ['without', 'with']) {
    const child = fork(join(import.meta.dirname, 'owner-memory.ts'), [owners, String(scale)], {
      execArgv: ['--expose-gc'],
    });
    const [{ objects, heapBytes, externalBytes, rssBytes }] = (await once(child, 'message')) as [MemoryFigures];
    const [heap, external, rss] = [heapBytes, externalBytes, rssBytes].map((bytes) => (bytes / 2 ** 20).toFixed(0));
    console.log(`${objects} ${owners} owners: heap ${heap} MiB, buffers ${external} MiB, RSS ${rss} MiB`);
  }
}

console.log(describeMachine());
if (only === undefined || only === 'registry') {
  console.log('\nregistry, response and watch event, CPU time per write:');
  await new RegistryBench().run();
}
if (only === undefined || only === 'http') {
  console.log('\nover HTTPS, CPU time of the server per write:');
  await measureHttp();
}
if (only === undefined || only === 'memory') {
  console.log('\nmemory of a server:');
  await measureMemory();
}
