import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesBetween, parseSockets } from '../../../bench/side-by-side/socket-bytes.ts';

const line = (local: number, pid: number, sent: number, received: number): string =>
  `ESTAB 0 0 127.0.0.1:${local} 127.0.0.1:6443 users:(("node-MainThread",pid=${pid},fd=24))\t ts sack cubic rto:204 ` +
  `bytes_sent:${sent} bytes_retrans:7 bytes_acked:${sent + 1} bytes_received:${received} segs_out:13`;
const text = [line(4001, 17, 1_000, 50_000), line(4002, 17, 300, 0), line(4003, 170, 5, 5)].join('\n');

test('the bytes of the sockets of one process, in both directions', () => {
  const sockets = parseSockets(text, 17);
  assert.deepEqual(
    [...sockets],
    [
      ['127.0.0.1:4001 127.0.0.1:6443', 51_000],
      ['127.0.0.1:4002 127.0.0.1:6443', 300],
    ],
  );
});

test('a connection that is new counts from its beginning, and one that was closed no more', () => {
  const before = parseSockets(text, 17);
  const after = parseSockets([line(4001, 17, 1_500, 50_250), line(4009, 17, 40, 60)].join('\n'), 17);
  assert.equal(bytesBetween(before, after), 750 + 100);
});
