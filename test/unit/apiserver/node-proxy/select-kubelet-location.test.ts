import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectKubeletLocation } from '../../../../src/apiserver/node-proxy/select-kubelet-location.ts';

const status = {
  addresses: [
    { type: 'Hostname', address: 'a' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: 'fd00::1' },
  ],
  daemonEndpoints: { kubeletEndpoint: { Port: 10_260 } },
};
const kubelet = { host: '10.0.0.1', port: 10_260, secure: true, isKubelet: true };

test('without another port the request goes to the kubelet, always over TLS', () => {
  for (const requested of [
    { scheme: '', port: '' },
    { scheme: 'http', port: '' },
    { scheme: 'http', port: '10260' },
  ]) {
    assert.deepEqual(selectKubeletLocation(status, requested), { location: kubelet });
  }
});

test('a node that states no port has that of kubelets', () => {
  const { addresses } = status;
  const selected = selectKubeletLocation({ addresses }, { scheme: '', port: '' });
  assert.deepEqual(selected, { location: { ...kubelet, port: 10_250 } });
});

test('another port is used with the scheme of the name, without the certificate of the API server', () => {
  const location = { host: '10.0.0.1', port: 9100, secure: false, isKubelet: false };
  assert.deepEqual(selectKubeletLocation(status, { scheme: '', port: '9100' }), { location });
  assert.deepEqual(selectKubeletLocation(status, { scheme: 'https', port: '9100' }), {
    location: { ...location, secure: true },
  });
});

test('a port is a number from 1 to 65535', () => {
  for (const port of ['0', 'metrics', '-1', '1e3', '+80']) {
    assert.deepEqual(selectKubeletLocation(status, { scheme: '', port }), { problem: 'wrong port' }, port);
  }
  assert.deepEqual(selectKubeletLocation(status, { scheme: '', port: '65536' }), { problem: 'no such port' });
});

test('a node without an InternalIP cannot be reached', () => {
  const none = selectKubeletLocation({ addresses: status.addresses.slice(0, 1) }, { scheme: '', port: '' });
  const message = 'no preferred addresses found; known addresses: [{Hostname a}]';
  assert.deepEqual(none, { problem: 'no address', message });
  assert.deepEqual(selectKubeletLocation(undefined, { scheme: '', port: '' }), {
    problem: 'no address',
    message: 'no preferred addresses found; known addresses: []',
  });
});
