import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeEventLine } from '../../../../src/machinery/events/describe-event-line.ts';

test('the line equals the one that kube-controller-manager logs', () => {
  const about = {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: 'd',
    name: 'p',
    uid: 'u',
    fieldPath: 'spec.containers{"c"}',
  };
  assert.equal(
    describeEventLine({ about, type: 'Warning', reason: 'BackOff', message: `it's "so"` }),
    `Event(v1.ObjectReference{Kind:"Pod", Namespace:"d", Name:"p", UID:"u", APIVersion:"v1", ResourceVersion:"", FieldPath:"spec.containers{\\"c\\"}"}): type: 'Warning' reason: 'BackOff' it's "so"`,
  );
});
