/** CertificateSigningRequests: who asks, what is immutable, and what is validated. */
import type { RequestRow } from './request-row.ts';

const requests = {
  ecdsa:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTU1Bb0dBMVVFQ2d3RGIzQnpNUTB3Q3dZRFZRUUREQVJxWVc1bE1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVwMjF0cGtJVWZ2eG42K0RSRU1wbDd6Q2p6RWljNG43S1ppOVI0S0pMCnNiTkVrWUlDeE1qSjR3VVFEU1pZV1RtMnFzTGliT0RySEU1emxTUFhxSStSSTZBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJRkxXUE5PM2hKYU9FUVBBSjEvUmx3WmdnQXZBR1R0UVRxNGo0bHZnRTZ6NEFpRUE3YXlQMHgzMgpJZS9sYXIyV3IyZmVuc25PRWRidTNKZ0JwNG1RS2hLRHJlMD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
  masters:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIak1JR0tBZ0VBTUNneEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVEwd0N3WURWUVFEREFScQpZVzVsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFcDIxdHBrSVVmdnhuNitEUkVNcGw3ekNqCnpFaWM0bjdLWmk5UjRLSkxzYk5Fa1lJQ3hNako0d1VRRFNaWVdUbTJxc0xpYk9EckhFNXpsU1BYcUkrUkk2QUEKTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSVFEdVkycW8xdy90TDluNHZzcGptUG9xKy9hQTc0Q1NxeDdsbURtQwpUeit3UmdJZ1NkV21MbzBvM1ZzaU1jYXBFZ3p6cU9Ld2YrdDUwcXRCWTNEMnVVQUVwQUk9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
  rsa: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1V6Q0NBVHNDQVFBd0RqRU1NQW9HQTFVRUF3d0Rjbk5oTUlJQklqQU5CZ2txaGtpRzl3MEJBUUVGQUFPQwpBUThBTUlJQkNnS0NBUUVBc1BSNFo3TXp2WitocDFXZ0d3bGMwSnpsbkh4eGpJU2dBeXJPTDJNQmZ3VnR4QkQrCi8yTTQyaGN5ZEtMbjhrTU5uK0NqbTJxUE9ZMEMwa2dzNnc5TEg5Zkg0UGZ6c1VEOVV1cHpXN3FTbkNDZmVXb0UKd2l6NldVbzdqMW5KcjloNU55TGhoSzVqRWhzNVQxLzZSNUpXM0hibU5iTzJmbTRuK3ZrUkdSV0J4RDhNSDJwRwpqeTZiVHFkak9tYUxOdFg4Mzl0b0VMbDFoQWI1d3YwL0JGbktSYlE3Q1M5S3NIYmlvY1JHQWZ1bW1NUytUTnlXCjZkaHcvekpnS1VKd2VhYTNjRzB3NDRMV0g5Z1pCMFF5SW96bDhncUNwaXBDRjN0dGcyRWV1UUhQTlJ3NkZLTHEKZkxkNE9jZ1NBRUliS0VEamh4R2grbnhsVG1WM21Cb0dXRG9KMVFJREFRQUJvQUF3RFFZSktvWklodmNOQVFFTApCUUFEZ2dFQkFHRGtmNmJoQ0lYMUxpMktMMmxwdTc3bUJPdUg3M1lrZ0E1Q2tMUmRMZWs0bnlQVUVLUHFvcU5KCkt1YTkyd3RIWnd0VHJ5d25ha3doVGtXb2M3M1JWSU5sbTJLeE5LZ1g3V01zS3VJRCtNa1hXS2RueVVmdTk4cUcKTys4cHAvVGltM0JyQVVkOW9RWmxYc2drblZxYjg0VEZhSllPM01lQTZDb2pXRC9LbXFkTFp4U0pUOGpEM3VkLwpTYk94TjNvT0I1ZlFLQ205SDU5MEdqaUU2U1VzSS9kbW53RXhpM1cwL0dJYk9aM0NPTmhFN25JUW9mdUE0WVgwCmRoU01Xa2k4MExPNTNaWi9vK2VZYlZ0VWtxWUN0S3lLUW8zRGdHckM1RjN0S3NkMHJMUVF3eWhDN0RzeHJ5R2IKMEc3WGl0TTBWNWxpTzJ2VjB5ZlNIL2w4TC9KTjBsZz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
  ed25519:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHTU1FQUNBUUF3RFRFTE1Ba0dBMVVFQXd3Q1pXUXdLakFGQmdNclpYQURJUUNObG5ka1Y3aUtWTjIrNWdXUgpVZlpRNTFoMFpjTnZ3a1ZYUjNPS21SVVlPNkFBTUFVR0F5dGxjQU5CQUpDQnRhaGQ0MEVOSXB2cWg3RnlYS25oCk9TMndKVFhkQ1ZSNDFYVDYwa2tmV3ZubVZaallXbjM4TERWNmh5L0FUVWdTVFN4ckdIMGNCOFltdmdZUG5Bcz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
} as const;

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const pending = `${collection}/$NS-pending`;
const approved = `${collection}/$NS-approved`;
const merge = 'application/merge-patch+json';
const signerName = 'example.com/signer';
const base = { request: requests.ecdsa, signerName, usages: ['digital signature', 'client auth'] };

/** Who asks for all of them, so that the user in the spec is known. */
export const requester = {
  'impersonate-user': 'jane',
  'impersonate-uid': '123',
  'impersonate-group': 'system:masters',
  'impersonate-extra-scopes': 'view',
};

/** The objects of the fixture: a pending one, and one that is approved. */
export function pendingRequest(namespace: string): object {
  return { metadata: { name: `${namespace}-pending` }, spec: base };
}

export function approvedRequest(namespace: string): object {
  return { metadata: { name: `${namespace}-approved` }, spec: base };
}

export const approval = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } };

function created(name: string, spec: object, extra: Partial<RequestRow> = {}): RequestRow {
  const body = { metadata: { name: '$NS-new' }, spec };
  return {
    name: `csr: ${name}`,
    method: 'POST',
    path: `${collection}?dryRun=All`,
    body,
    headers: requester,
    shows: ['spec', 'status'],
    ...extra,
  };
}

function changed(name: string, path: string, body: unknown, shows: readonly string[] = ['spec', 'status']): RequestRow {
  return { name: `csr: ${name}`, method: 'PATCH', path: `${path}?dryRun=All`, body, type: merge, shows };
}

const pemOf = (text: string): string => Buffer.from(text).toString('base64');
const decoded = Buffer.from(requests.ecdsa, 'base64').toString();
const forged = { username: 'root', uid: '1', groups: ['system:masters'], extra: { a: ['b'] } };
const creations: readonly RequestRow[] = [
  created('a valid one', base),
  created('a forged user', { ...base, ...forged }),
  created('a status', base, {
    body: { metadata: { name: '$NS-new' }, spec: base, ...approval },
  }),
  created('RSA', { ...base, request: requests.rsa }),
  created('Ed25519', { ...base, request: requests.ed25519 }),
  created('no spec', {}),
  created('no request', { ...base, request: undefined }),
  created('a request that is no PEM', { ...base, request: pemOf('nope') }),
  created('a request of another type', {
    ...base,
    request: pemOf(decoded.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')),
  }),
  created('a text before the PEM', { ...base, request: pemOf(`text\n${decoded}`) }),
  created('no usages', { ...base, usages: [] }),
  created('an unknown usage', { ...base, usages: ['client auth', 'nope'] }),
  created('a usage twice', { ...base, usages: ['client auth', 'client auth'] }),
  created('no signer', { ...base, signerName: undefined }),
  created('a signer without a path', { ...base, signerName: 'example.com' }),
  created('a signer with two paths', { ...base, signerName: 'example.com/a/b' }),
  created('a signer without a domain', { ...base, signerName: 'example/a' }),
  created('a signer with capital letters', { ...base, signerName: 'Example.com/A' }),
  created('an empty domain', { ...base, signerName: '/a' }),
  created('the legacy signer', { ...base, signerName: 'kubernetes.io/legacy-unknown' }),
  created('599 seconds', { ...base, expirationSeconds: 599 }),
  created('600 seconds', { ...base, expirationSeconds: 600 }),
  created('the group of administrators', {
    ...base,
    request: requests.masters,
    signerName: 'kubernetes.io/kube-apiserver-client',
  }),
  created('the group of administrators for another signer', { ...base, request: requests.masters }),
  created('several problems', { request: pemOf('x'), usages: ['nope', 'nope'], signerName: 'a', expirationSeconds: 1 }),
  created('no name', base, { body: { spec: base } }),
  created('a name with a slash', base, { body: { metadata: { name: 'a/b' }, spec: base } }),
  created('a name with capital letters', base, { body: { metadata: { name: '$NS:A_b' }, spec: base } }),
];

const time = '2026-01-01T00:00:00Z';
const condition = (type: string, more: object = {}): object => ({
  type,
  status: 'True',
  reason: 'r',
  message: 'm',
  ...more,
});
const conditions = (...all: readonly object[]): object => ({ status: { conditions: all } });
const fixed = { lastUpdateTime: time, lastTransitionTime: time };
const updates: readonly RequestRow[] = [
  changed('the spec is kept', pending, { spec: { signerName: 'other.com/x', usages: ['signing'], username: 'root' } }),
  changed('the status is kept', pending, approval),
  changed('approve', `${pending}/approval`, conditions(condition('Approved', fixed))),
  changed('approve with a certificate', `${pending}/approval`, {
    status: { certificate: pemOf('x'), ...Object(conditions(condition('Approved', fixed))).status },
  }),
  changed('approve and change the spec', `${pending}/approval`, {
    spec: { username: 'root' },
    ...conditions(condition('Denied', fixed)),
  }),
  changed('approve and deny', `${pending}/approval`, conditions(condition('Approved'), condition('Denied'))),
  changed('approve twice', `${pending}/approval`, conditions(condition('Approved'), condition('Approved'))),
  changed('approve with status False', `${pending}/approval`, conditions(condition('Approved', { status: 'False' }))),
  changed('a condition without a type', `${pending}/approval`, conditions(condition(''))),
  changed('a condition without a status', `${pending}/approval`, conditions(condition('Other', { status: '' }))),
  changed(
    'a condition with another status',
    `${pending}/approval`,
    conditions(condition('Other', { status: 'Maybe' })),
  ),
  changed('approve through the status', `${pending}/status`, approval),
  changed('fail through the status', `${pending}/status`, conditions(condition('Failed', fixed))),
  changed('a certificate that is none', `${pending}/status`, { status: { certificate: pemOf('x') } }),
  changed('a request as the certificate', `${pending}/status`, { status: { certificate: requests.ecdsa } }),
  changed('the approval is removed', `${approved}/approval`, conditions()),
  changed('the approval is removed through the status', `${approved}/status`, conditions()),
  changed(
    'the approval is changed through the status',
    `${approved}/status`,
    conditions(condition('Approved', { message: 'other', ...fixed })),
    ['spec'],
  ),
  changed(
    'the approval is changed',
    `${approved}/approval`,
    conditions(condition('Approved', { message: 'other', ...fixed })),
  ),
  changed(
    'deny what is approved',
    `${approved}/approval`,
    conditions(condition('Approved', fixed), condition('Denied', fixed)),
  ),
  changed('approve by another name', `${pending}/approval`, { metadata: { name: 'other' }, ...approval }),
  {
    name: 'csr: approve a missing one',
    method: 'PATCH',
    path: `${collection}/missing/approval`,
    body: approval,
    type: merge,
  },
  {
    name: 'csr: approve as another user',
    method: 'PATCH',
    path: `${pending}/approval?dryRun=All`,
    body: approval,
    type: merge,
    headers: { 'impersonate-user': 'jane' },
  },
];

export const certificateRows: readonly RequestRow[] = [...creations, ...updates];
