import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAttributes } from '../../../../../src/hollow-cluster/apiserver/authorization/parse-attributes.ts';
import { describeUnserved } from '../../../../../src/hollow-cluster/apiserver/http/request-handler.ts';

function refusalOf(path: string): string | undefined {
  return describeUnserved(parseAttributes({ method: 'GET', path, query: new URLSearchParams() }));
}

test('a refusal names the path and what serves it', () => {
  assert.equal(
    refusalOf('/api/v1/namespaces/a/serviceaccounts/b/token'),
    'serviceaccounts/token is not served by the embedded API server; kube-apiserver serves it: nlc demo --control-plane=DIR, or another cluster',
  );
  assert.equal(
    refusalOf('/api/v1/nodes/a/proxy/pods'),
    'nodes/proxy is not served by the embedded API server; a cluster with kube-apiserver and kubelets that run containers serves it',
  );
});

test('a path that kube-apiserver does not have is not one of them', () => {
  assert.equal(refusalOf('/api/v1/nodes/a/nothing'), undefined);
  assert.equal(refusalOf('/api/v1/namespaces/a/pods/proxy'), undefined);
  assert.equal(refusalOf('/healthz'), undefined);
});
