// Before the first byte of a write is sent there may be a handshake or other requests, and the process may be paused
// meanwhile. A process that lost leadership by then must not write.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';

const dependencies = { clock: new SystemClock(), random: new SeededRandom(7), logger: new RecordingLogger() };
const signal = AbortSignal.timeout(60_000);

/** Accepts connections and forwards nothing until it is opened. */
class WriteGate {
  readonly #waiting: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #isOpen = false;

  constructor(targetPort: number) {
    this.#server = createServer((incoming) => {
      this.#sockets.add(incoming.on('error', () => undefined));
      this.#waiting.push(() => {
        const outgoing = connect(targetPort, '127.0.0.1').on('error', () => undefined);
        this.#sockets.add(outgoing);
        incoming.pipe(outgoing).pipe(incoming);
      });
      if (this.#isOpen) this.open();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  open(): void {
    this.#isOpen = true;
    for (const letThrough of this.#waiting.splice(0)) letThrough();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let server: RunningApiServer;
let gate: WriteGate;
let folder: string;
let api: HttpKubeApi;
let mayWrite = true;

before(async () => {
  server = await startApiServer(dependencies);
  gate = new WriteGate(server.port);
  const url = await gate.listen();
  folder = mkdtempSync(join(tmpdir(), 'nlc-late-writes-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig().replaceAll(server.url, url), { mode: 0o600 });
  const connection = await loadConnection({ kubeconfig });
  api = makeKubeApi(connection, { ...dependencies, mayWrite: () => mayWrite });
});

after(async () => {
  await api.close();
  await gate.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function create(name: string): Promise<unknown> {
  return api.create('nodes', { metadata: { name } }, { signal }).catch((error: unknown) => error);
}

test('a write whose handshake outlasts leadership is not sent', { timeout: 30_000 }, async () => {
  const late = create('late');
  await until(() => gate.waiting === 1);
  const revision = server.revision();
  mayWrite = false;
  gate.open();
  const error = await late;
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.reason, 'aborted');
  assert.equal(server.revision(), revision);

  mayWrite = true;
  await create('in-time');
  const { items } = await api.list('nodes', { signal });
  const seen = items.map(({ metadata }) => metadata.name);
  assert.deepEqual(seen, ['in-time']);
});
