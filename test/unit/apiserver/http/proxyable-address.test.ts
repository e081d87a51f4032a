import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProxyableAddress } from '../../../../src/apiserver/http/proxyable-address.ts';

test('requests are forwarded to global unicast addresses', () => {
  for (const address of ['10.0.0.1', '192.168.1.1', '203.0.113.7', '2001:db8::1', 'fd00::1', '::ffff:10.0.0.1']) {
    assert.equal(isProxyableAddress(address), true, address);
  }
});

test('loopback, link-local, multicast, broadcast and unspecified addresses are refused, in every notation', () => {
  const refused = [
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
    '0.0.0.0',
    '::',
  ];
  for (const address of refused) assert.equal(isProxyableAddress(address), false, address);
});

test('a name is refused', () => {
  for (const address of ['localhost', '', '2130706433', '127.1', '0x7f.0.0.1']) {
    assert.equal(isProxyableAddress(address), false, address);
  }
});
