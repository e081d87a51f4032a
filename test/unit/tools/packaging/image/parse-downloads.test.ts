import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDownloads } from '../../../../../tools/packaging/image/parse-downloads.ts';

test('downloads of apt have a path, a version, an architecture and a checksum', () => {
  const sha256 = 'a'.repeat(64);
  const printed = `'http://deb.debian.org/debian/pool/l/libc6_2.41%2bd_amd64.deb' libc6_2.41+d_amd64.deb 12 SHA256:${sha256}\n`;
  const path = 'debian/pool/l/libc6_2.41%2bd_amd64.deb';
  assert.deepEqual(parseDownloads(printed), [
    { name: 'libc6', version: '2.41+d', architecture: 'amd64', path, sha256 },
  ]);
  assert.throws(() => parseDownloads(printed.replace('SHA256', 'MD5Sum')), /not a download/);
});
