import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import { connect, createServer, type Server } from 'node:tls';
import {
  makeServingCertificate,
  type ServingCertificate,
} from '../../../src/machinery/page-server/serving-certificate.ts';

let made: ServingCertificate;
let server: Server;

before(async () => {
  made = await makeServingCertificate({ hosts: ['api.example', '192.0.2.7'] });
  server = createServer({ cert: made.certPem, key: made.keyPem }, (socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => new Promise((resolve) => server.close(resolve)));

/** Connects as a client with `ca` as its only CA; resolves with the error of the handshake, or undefined. */
async function handshake(ca: string, servername: string): Promise<Error | undefined> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, ca, servername });
  const outcome = await Promise.race([
    once(socket, 'secureConnect').then(() => undefined),
    once(socket, 'error').then(([error]) => error as Error),
  ]).catch((error: unknown) => error as Error);
  socket.destroy();
  return outcome;
}

test('a client with the CA connects to each name', async () => {
  for (const name of ['localhost', 'kubernetes', 'kubernetes.default.svc', 'api.example']) {
    assert.equal(await handshake(made.caPem, name), undefined, name);
  }
});

test('a client without the CA does not connect, nor does one to another name', async () => {
  const other = await makeServingCertificate();
  assert.match(String(await handshake(other.caPem, 'localhost')), /certificate/i);
  assert.match(String(await handshake(made.caPem, 'elsewhere.example')), /altnames/i);
});

test('the certificate is valid for the usual addresses and names of API servers', () => {
  const leaf = new X509Certificate(made.certPem);
  for (const name of ['localhost', hostname(), 'kubernetes']) assert.ok(leaf.checkHost(name), name);
  for (const ip of ['127.0.0.1', '::1', '192.0.2.7']) assert.ok(leaf.checkIP(ip), ip);
  assert.ok(leaf.checkIssued(new X509Certificate(made.caPem)));
  assert.equal(leaf.ca, false);
});

test('the certificate is valid for a year, starting slightly before now', async () => {
  const nowMs = Date.parse('2030-01-01T00:00:00Z');
  const leaf = new X509Certificate((await makeServingCertificate({ nowMs })).certPem);
  assert.equal(Date.parse(leaf.validFrom), nowMs - 5 * 60_000);
  assert.equal(Date.parse(leaf.validTo), nowMs + 365 * 24 * 3_600_000);
});
