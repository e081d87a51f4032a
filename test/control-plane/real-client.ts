import { readFileSync } from 'node:fs';
import { Client } from '../contract/apiserver/client.ts';
import type { ControlPlane } from './control-plane.ts';

/** The client of the tests of the API server, as administrator of a real one. Closing it leaves the server running. */
export function realClient({ url, adminToken: token, caFile }: ControlPlane): Client {
  const ca = readFileSync(caFile, 'utf8');
  return new Client({ kind: 'real', url, token, ca, forget: undefined, close: async () => {} });
}
