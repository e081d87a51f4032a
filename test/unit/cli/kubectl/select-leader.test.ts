import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerPod } from '../../../../src/cli/kubectl/parse-controller-pod.ts';
import { describeAccessError, describeNotFound, selectLeader } from '../../../../src/cli/kubectl/select-leader.ts';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';

function pod(name: string, changes: Partial<ControllerPod> = {}): ControllerPod {
  return {
    namespace: 'nlc',
    name,
    hostnames: [name],
    isRunning: true,
    phase: 'Running',
    fullname: 'node-lifecycle-controller',
    pages: { port: 8080, secure: false },
    ...changes,
  };
}

const [a, b] = [pod('c-a'), pod('c-b')];
const select = (pods: readonly ControllerPod[], holder?: string, wanted?: string) =>
  selectLeader({ pods, holder, wanted });

test('the pod whose name is in the holder identity leads', () => {
  assert.deepEqual(select([a, b], 'c-b_0f1e-uuid'), { kind: 'pod', pod: b });
});

test('on the host network the host name is that of the node', () => {
  const onHost = [pod('c-a', { hostnames: ['c-a', 'n1'] }), pod('c-b', { hostnames: ['c-b', 'n2'] })];
  assert.deepEqual(select(onHost, 'n2_uuid'), { kind: 'pod', pod: onHost[1] });
});

test('without a known holder every readable replica is asked; a single one is read at once', () => {
  assert.deepEqual(select([a, b]), { kind: 'ask', pods: [a, b] });
  assert.deepEqual(select([a, b], 'c-gone_uuid'), { kind: 'ask', pods: [a, b] });
  assert.deepEqual(select([a]), { kind: 'pod', pod: a });
  const sameNode = [pod('c-a', { hostnames: ['n1'] }), pod('c-b', { hostnames: ['n1'] })];
  assert.equal(select(sameNode, 'n1_uuid').kind, 'ask');
});

function problemOf(choice: ReturnType<typeof selectLeader>): string {
  return choice.kind === 'problem' ? choice.problem : assert.fail(`no problem: ${choice.kind}`);
}

test('pods of several namespaces are never mixed, even if the lease names one of them', () => {
  const other = pod('c-a', { namespace: 'tenant' });
  const problem = problemOf(select([a, other], 'c-a_uuid'));
  assert.match(problem, /several namespaces match \(nlc, tenant\); set --namespace/);
});

test('pods that do not run, and pods without a port for pages, are named', () => {
  const pending = pod('c-p', { isRunning: false, phase: 'Pending' });
  assert.match(problemOf(select([pending])), /no replica is running: nlc\/c-p \(Pending\)/);
  assert.match(
    problemOf(select([pod('c-o', { pages: undefined })])),
    /the pages are off \(chart value metrics\.enabled\)/,
  );
  assert.deepEqual(select([a, pending], 'c-p_uuid'), { kind: 'pod', pod: a });
});

test('--pod selects a replica, and an unknown name is an error with the names', () => {
  assert.deepEqual(select([a, b], 'c-b_uuid', 'c-a'), { kind: 'pod', pod: a });
  assert.equal(problemOf(select([a, b], undefined, 'c-x')), '--pod: must be one of c-a, c-b (got "c-x")');
});

const attempt = { what: 'find the controller', verbs: 'list', resource: 'pods', namespace: 'nlc' };

test('a forbidden request names the permission, the role of the chart and how to bind it', () => {
  const error = new ApiError({ reason: 'forbidden', code: 403, message: 'no' });
  const text = describeAccessError(attempt, error);
  assert.match(text, /^cannot find the controller: forbidden; needed: list on pods in namespace nlc/);
  assert.match(
    text,
    /kubectl create rolebinding NAME --clusterrole=node-lifecycle-controller-kubectl --user=USER --namespace=nlc/,
  );
  assert.match(describeAccessError({ ...attempt, namespace: '' }, error), /in all namespaces/);
});

test('other errors are shown as they are', () => {
  assert.equal(
    describeAccessError(attempt, new Error('no route to host')),
    'cannot find the controller: no route to host',
  );
});

test('that no controller was found names where it was looked for', () => {
  assert.match(
    describeNotFound('a=b', ['x', 'all namespaces (forbidden)']),
    /labels a=b in x, all namespaces \(forbidden\); set --namespace/,
  );
});
