// The embedded API server and a real one, for tests that send the same requests to both.
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { embeddedBackend } from '../contract/apiserver/backend.ts';
import { Client } from '../contract/apiserver/client.ts';
import { startControlPlane } from './control-plane.ts';

interface ServerPair {
  readonly embedded: Client;
  readonly real: Client;
}

/** Both are stopped after the tests of the file. */
export async function startServerPair(): Promise<ServerPair> {
  const plane = await startControlPlane();
  const embedded = new Client(await embeddedBackend());
  const real = new Client({
    kind: 'real',
    url: plane.url,
    token: plane.adminToken,
    ca: plane.caFile === undefined ? undefined : readFileSync(plane.caFile, 'utf8'),
    forget: undefined,
    close: async () => {},
  });
  after(async () => {
    await Promise.all([embedded.close(), real.close()]);
    await plane[Symbol.asyncDispose]();
  });
  return { embedded, real };
}
