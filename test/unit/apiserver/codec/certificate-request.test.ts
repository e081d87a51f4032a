import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCertificateProblem } from '../../../../src/apiserver/codec/certificate-request.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nYWI=\n-----END CERTIFICATE-----\n';
const none = 'must contain at least one CERTIFICATE PEM block';

test('blocks of PEM are whole lines with the same type at both ends', () => {
  for (const pem of [
    certificate,
    `text before\n${certificate}${certificate}after`,
    certificate.replaceAll('\n', '\r\n'),
    certificate.replaceAll('-----\n', '----- \t\n\n'),
    `-----BEGIN OTHER-----\nYWI=\n${certificate}`,
    `-----END CERTIFICATE-----\n${certificate}`,
  ]) {
    assert.equal(findCertificateProblem(pem), undefined, JSON.stringify(pem));
  }
  for (const pem of [
    '',
    certificate.replace('END CERTIFICATE', 'END OTHER'),
    certificate.replace('YWI=', 'YWI=\n(text)'),
    ` ${certificate}`,
    '-----BEGIN CERTIFICATE-----\nYWI=',
  ]) {
    assert.equal(findCertificateProblem(pem), none, JSON.stringify(pem));
  }
  const other = certificate.replaceAll('CERTIFICATE', 'RSA KEY');
  assert.equal(findCertificateProblem(certificate + other), 'only CERTIFICATE PEM blocks are allowed, found "RSA KEY"');
});

test('a block without an end takes linear time', () => {
  const startMs = performance.now();
  assert.equal(findCertificateProblem(`-----BEGIN A-----${'\n'.repeat(150_000)}`), none);
  assert.ok(performance.now() - startMs < 5_000);
});
