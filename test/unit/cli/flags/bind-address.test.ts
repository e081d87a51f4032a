import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type BindAddress, formatBindAddress, parseBindAddress } from '../../../../src/cli/flags/bind-address.ts';

test('parses hosts, all interfaces, IPv6, port 0 and off', () => {
  const table: readonly [string, BindAddress][] = [
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    [':8081', { host: '', port: 8081 }],
    ['[::1]:9090', { host: '::1', port: 9090 }],
    ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
    ['0', 'off'],
  ];
  for (const [text, address] of table) assert.deepEqual(parseBindAddress(text), address, text);
});

test('an invalid address is undefined', () => {
  for (const text of [
    '',
    '8080',
    ':http',
    'host',
    'host:',
    'host:65536',
    'host:-1',
    '::1:80',
    'a b:80',
    '[]:80',
    'h:1 ',
  ]) {
    assert.equal(parseBindAddress(text), undefined, JSON.stringify(text));
  }
});

test('property: a formatted address parses to the same address', () => {
  const host = fc.oneof(fc.constantFrom('', 'localhost', '::', '::1'), fc.ipV4(), fc.ipV6());
  const address = fc.record({ host, port: fc.integer({ min: 0, max: 65_535 }) }, { noNullPrototype: true });
  fc.assert(
    fc.property(fc.oneof(address, fc.constant<BindAddress>('off')), (wanted) => {
      assert.deepEqual(parseBindAddress(formatBindAddress(wanted)), wanted);
    }),
  );
});
