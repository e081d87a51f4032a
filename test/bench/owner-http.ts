// Writes to an embedded API server in another process, for the bench of field ownership. Half of the objects have no
// owners: their managedFields were reset, after which the server tracks them no more.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { encode, type Json, listStreams, type WriteStream } from './owned-writes.ts';
import { processFigures } from './process-figures.ts';

export interface Access {
  readonly port: number;
  readonly token: string;
  readonly ca: string;
}

interface Send {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Of each kind and group; the writes go to them in turns. */
const objectsEach = 8;
const json = 'application/json';

export class OwnerHttpBench {
  readonly #server: ChildProcess;
  readonly #access: Access;
  readonly #agent: Agent;
  readonly #groups: readonly (readonly WriteStream[])[];

  private constructor(server: ChildProcess, access: Access) {
    this.#server = server;
    this.#access = access;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16, ca: access.ca });
    this.#groups = Array.from({ length: objectsEach * 2 }, (_, index) => listStreams(index));
  }

  static async start(): Promise<OwnerHttpBench> {
    const server = fork(join(import.meta.dirname, 'owner-server.ts'));
    const [access] = (await once(server, 'message')) as [Access];
    const bench = new OwnerHttpBench(server, access);
    await bench.#prepare();
    return bench;
  }

  get streams(): readonly string[] {
    return this.#groups[0]?.map(({ what }) => what) ?? [];
  }

  /** CPU seconds of the server for these writes. */
  async round(what: string, owned: boolean, from: number, count: number): Promise<number> {
    const half = this.#groups.slice(owned ? 0 : objectsEach, owned ? objectsEach : undefined);
    const streams = half.flatMap((group) => group.filter((stream) => stream.what === what));
    const before = processFigures(this.#server.pid ?? 0).cpuSeconds;
    await Promise.all(streams.map((stream) => this.#write(stream, from, Math.round(count / streams.length))));
    return processFigures(this.#server.pid ?? 0).cpuSeconds - before;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    const exited = once(this.#server, 'exit');
    this.#server.disconnect();
    await exited;
  }

  async #write(stream: WriteStream, from: number, count: number): Promise<void> {
    const { method, contentType } = stream;
    const path = `${pathOf(stream)}?fieldManager=kubelet`;
    const current = await this.#send({ method: 'GET', path: pathOf(stream), contentType, body: Buffer.alloc(0) });
    const body = stream.bodies(JSON.parse(current) as Json);
    let version = versionOf(current);
    for (let index = from; index < from + count; index += 1) {
      version = versionOf(await this.#send({ method, path, contentType, body: body(index, version) }));
    }
  }

  async #prepare(): Promise<void> {
    await this.#create('/api/v1/namespaces', { metadata: { name: 'team-001' } });
    for (const [index, streams] of this.#groups.entries()) {
      for (const stream of streams) await this.#createObject(stream, index < objectsEach);
    }
    const collections = (this.#groups[0] ?? []).map((stream) => collectionOf({ ...stream, namespace: undefined }));
    for (const path of collections) this.#watch(`${path}?watch=true`);
  }

  async #createObject(stream: WriteStream, owned: boolean): Promise<void> {
    await this.#create(`${collectionOf(stream)}?fieldManager=${stream.creator}`, stream.object);
    const path = `${collectionOf(stream)}/${stream.name}`;
    const { status } = stream.object;
    const merge = { method: 'PATCH', contentType: 'application/merge-patch+json' };
    if (stream.endpoint === 'status') {
      await this.#send({ ...merge, path: `${path}/status?fieldManager=kubelet`, body: encode({ status }) });
    }
    if (owned) return;
    await this.#send({ ...merge, path, body: encode({ metadata: { managedFields: [{}] } }) });
  }

  async #create(path: string, object: Json): Promise<void> {
    await this.#send({ method: 'POST', path, contentType: json, body: encode(object) });
  }

  #watch(path: string): void {
    const { port, token, ca } = this.#access;
    const headers = { authorization: `Bearer ${token}` };
    const watch = request({ port, path, headers, ca, host: '127.0.0.1' }, (response) => response.resume());
    // It ends with the server.
    watch.on('error', () => {});
    watch.end();
  }

  /** The text of the response; throws if it is an error. */
  async #send({ method, path, contentType, body }: Send): Promise<string> {
    const { port, token } = this.#access;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': contentType,
      'content-length': body.length,
    };
    const { code, text } = await new Promise<{ code: number; text: string }>((resolve, reject) => {
      const sent = request({ method, port, path, headers, agent: this.#agent, host: '127.0.0.1' }, (response) => {
        const code = response.statusCode ?? 0;
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('end', () => resolve({ code, text: Buffer.concat(parts).toString() }));
      });
      sent.once('error', reject);
      sent.end(body);
    });
    if (code >= 300) throw new Error(`${method} ${path}: ${code} ${text}`);
    return text;
  }
}

function versionOf(text: string): string {
  return /"resourceVersion":"(\d+)"/u.exec(text)?.[1] ?? '';
}

function pathOf(stream: WriteStream): string {
  return `${collectionOf(stream)}/${stream.name}${stream.endpoint === '' ? '' : `/${stream.endpoint}`}`;
}

function collectionOf({ group, plural, namespace }: Pick<WriteStream, 'group' | 'plural' | 'namespace'>): string {
  const version = group === '' ? '/api/v1' : `/apis/${group}/v1`;
  return `${version}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}
