import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { proxyFromEnvironment } from '../../../../src/machinery/kubeconfig/proxy-environment.ts';

const chosen = (server: string, environment: Readonly<Record<string, string>>): string | undefined =>
  proxyFromEnvironment(new URL(server), environment)?.url;

describe('the proxy of the environment', () => {
  test("is selected by the server's scheme, upper case first", () => {
    const environment = { HTTPS_PROXY: 'http://secure:1', HTTP_PROXY: 'http://plain:1', http_proxy: 'http://lower:1' };
    assert.equal(chosen('https://api.example', environment), 'http://secure:1');
    assert.equal(chosen('http://api.example', environment), 'http://plain:1');
    assert.equal(chosen('http://api.example', { http_proxy: 'http://lower:1' }), 'http://lower:1');
    assert.equal(chosen('https://api.example', { HTTP_PROXY: 'http://plain:1' }), undefined);
    assert.equal(chosen('https://api.example', { HTTPS_PROXY: ' ', https_proxy: 'http://lower:1' }), 'http://lower:1');
  });

  test('may be configured without a scheme', () => {
    assert.equal(chosen('https://api.example', { HTTPS_PROXY: 'proxy:3128' }), 'http://proxy:3128');
  });

  test('is never used for loopback addresses', () => {
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      assert.equal(chosen(`https://${host}:6443`, { HTTPS_PROXY: 'http://p' }), undefined, host);
    }
  });

  const rows: readonly (readonly [entry: string, covered: readonly string[], not: readonly string[]])[] = [
    ['*', ['https://api.example', 'https://10.1.2.3', 'https://[fd00::1]'], []],
    [
      'example.com',
      ['https://example.com', 'https://api.example.com', 'https://API.EXAMPLE.com.'],
      ['https://myexample.com'],
    ],
    ['.example.com', ['https://api.example.com'], ['https://example.com']],
    ['*.example.com', ['https://a.b.example.com'], ['https://example.com', 'https://xexample.com']],
    ['example.com:6443', ['https://api.example.com:6443'], ['https://api.example.com']],
    ['example.com:443', ['https://example.com'], ['https://example.com:6443']],
    ['10.1.0.0/16', ['https://10.1.2.3:6443'], ['https://10.2.0.1', 'https://ten.example']],
    ['10.1.2.3', ['https://10.1.2.3'], ['https://10.1.2.30', 'https://1.10.1.2']],
    ['10.1.2.3:6443', ['https://10.1.2.3:6443'], ['https://10.1.2.3']],
    ['fd00::/8', ['https://[fd00::1]:6443'], ['https://[fe80::1]', 'https://10.1.2.3']],
    ['fd00:0::1', ['https://[fd00::1]'], ['https://[fd00::2]']],
    ['[fd00::1]:6443', ['https://[fd00::1]:6443'], ['https://[fd00::1]']],
    ['none.invalid , api.example,', ['https://api.example'], ['https://other.example']],
    ['10.0.0.0/99', [], ['https://10.1.2.3']],
    ['nonsense/8,:::,[', [], ['https://10.1.2.3', 'https://api.example']],
  ];
  for (const [entry, covered, not] of rows) {
    test(`NO_PROXY=${entry}`, () => {
      for (const [environment] of [[{ NO_PROXY: entry }], [{ no_proxy: entry }]] as const) {
        const asked = { ...environment, HTTPS_PROXY: 'http://p' };
        for (const server of covered) assert.equal(chosen(server, asked), undefined, server);
        for (const server of not) assert.equal(chosen(server, asked), 'http://p', server);
      }
    });
  }
});
