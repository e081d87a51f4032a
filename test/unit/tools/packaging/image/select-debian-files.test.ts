import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKept } from '../../../../../tools/packaging/image/select-debian-files.ts';

test('libraries, time zones and licences are kept; programs, modules and documents are not', () => {
  const kept = ['lib64', 'usr/lib/aarch64-linux-gnu/libc.so.6', 'usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33'];
  const more = [
    'usr/share/zoneinfo/Europe/Berlin',
    'usr/share/doc/libc6/copyright',
    'etc/os-release',
    'usr/lib64/ld-linux-x86-64.so.2',
  ];
  for (const path of [...kept, ...more]) assert.ok(isKept(path), path);
  const left = [
    'usr/sbin/update-ca-certificates',
    'usr/lib/x86_64-linux-gnu/gconv/BIG5.so',
    'bin',
    'usr/share/doc/libc6/changelog.gz',
  ];
  for (const path of left) assert.ok(!isKept(path), path);
});
