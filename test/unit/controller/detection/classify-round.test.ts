import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answers, classifyRound } from '../../../../src/controller/detection/classify-round.ts';
import type { ProbeKind } from '../../../../src/controller/model/policy.ts';
import type { DialResult } from '../../../../src/machinery/ports/dialer.ts';

const of = (kubelet: readonly DialResult[], pods: readonly DialResult[] = []): Answers =>
  new Map<ProbeKind, readonly DialResult[]>([
    ['kubelet', kubelet],
    ['pods', pods],
  ]);
const yes = of(['answered'], ['answered']);
const no = of(['no-answer'], ['no-answer']);

const rows: readonly (readonly [string, readonly ProbeKind[], Answers, readonly Answers[], string])[] = [
  ['nothing answers, and others do', ['kubelet'], no, [yes, yes, yes], 'no-answer'],
  ['one of three others does', ['kubelet'], no, [yes, no, no], 'path-suspect'],
  ['half of the others do', ['kubelet'], no, [yes, no], 'no-answer'],
  ['there is no other', ['kubelet'], no, [], 'path-suspect'],
  ['the kubelet answers', ['kubelet'], yes, [no], 'answered'],
  ['a pod answers', ['kubelet', 'pods'], of(['no-answer'], ['no-answer', 'answered']), [yes], 'answered'],
  ['a pod answers that is not asked', ['kubelet'], of(['no-answer'], ['answered']), [yes], 'no-answer'],
  ['it has no pods', ['kubelet', 'pods'], of(['no-answer']), [yes], 'no-answer'],
  ['no pod of the others answers', ['kubelet', 'pods'], no, [of(['answered'], ['no-answer'])], 'path-suspect'],
  ['the others have no pods', ['kubelet', 'pods'], no, [of(['answered'])], 'path-suspect'],
  ['it has no address', ['kubelet'], of([]), [yes], 'not-asked'],
  ['it has no address, and its pods have', ['kubelet', 'pods'], of([], ['no-answer']), [yes], 'not-asked'],
  ['this machine could not send', ['kubelet', 'pods'], of(['no-answer'], ['not-sent']), [yes], 'not-asked'],
  ['nothing is known of it', ['kubelet'], new Map(), [yes], 'not-asked'],
  ['its pods could not be read', ['kubelet', 'pods'], new Map([['kubelet', ['no-answer']]]), [yes], 'not-asked'],
];

for (const [name, probes, own, controls, expected] of rows) {
  test(`${name}: ${expected}`, () => {
    assert.equal(classifyRound(probes, own, controls), expected);
  });
}
