/** Tolerations with the operators `Lt` and `Gt`, and what API servers with the gate TaintTolerationComparisonOperators answer. */
import assert from 'node:assert/strict';
import { aPod, type Client, expect, type Json, mergePatch } from './client.ts';

interface ComparingRow {
  readonly operator: string;
  readonly value: string | undefined;
  /** Messages of the causes; none if it is admitted. */
  readonly causes: readonly string[];
}

const form = (value: string): string => `Invalid value: "${value}": must be a valid decimal integer in canonical form`;
const parsed = (value: string, why: string): string =>
  `Invalid value: "${value}": strconv.ParseInt: parsing "${value}": ${why}`;
const empty = ['Invalid value: "": must be non-empty', parsed('', 'invalid syntax')];

export const comparingRows: readonly ComparingRow[] = [
  ...['0', '950', '-5', '9223372036854775807', '-9223372036854775808'].flatMap((value) =>
    ['Lt', 'Gt'].map((operator) => ({ operator, value, causes: [] })),
  ),
  { operator: 'Lt', value: undefined, causes: empty },
  { operator: 'Gt', value: '', causes: empty },
  ...['+5', '007', '-0', '00'].map((value) => ({ operator: 'Gt', value, causes: [form(value)] })),
  ...['abc', '1.5', '5 ', '-', '0x10', '1_000', 'é'].map((value) => ({
    operator: 'Lt',
    value,
    causes: [form(value), parsed(value, 'invalid syntax')],
  })),
  ...['9223372036854775808', '-9223372036854775809', '1'.repeat(60)].map((value) => ({
    operator: 'Gt',
    value,
    causes: [parsed(value, 'value out of range')],
  })),
  ...['Le', 'lt'].map((operator) => ({
    operator,
    value: '5',
    causes: [`Unsupported value: "${operator}": supported values: "Equal", "Exists"`],
  })),
];

function tolerating({ operator, value }: Pick<ComparingRow, 'operator' | 'value'>): Json {
  return { key: 'sla', operator, effect: 'NoExecute', ...(value === undefined ? {} : { value }) };
}

/** Fails unless a pod and the template of a Deployment with this toleration are answered as the row says. */
export async function checkComparingRow(client: Client, row: ComparingRow): Promise<void> {
  const namespace = await client.namespace();
  const labels = { app: 'a' };
  const pod = aPod('a', { metadata: { labels }, spec: { tolerations: [tolerating(row)] } });
  const workload = { metadata: { name: 'a' }, spec: { selector: { matchLabels: labels }, template: pod } };
  for (const [path, body] of [
    [`/api/v1/namespaces/${namespace}/pods`, pod],
    [`/apis/apps/v1/namespaces/${namespace}/deployments`, workload],
  ] as const) {
    const answer = await client.post(path, body);
    expect(answer, row.causes.length === 0 ? 201 : 422);
    const causes: readonly Json[] = answer.body.details?.causes ?? [];
    assert.deepEqual(
      causes.map(({ message }) => message),
      row.causes,
    );
  }
}

/** Fails unless such a toleration can be added to a pod, and stays when the pod is changed. */
export async function checkComparingAdded(client: Client): Promise<void> {
  const pod = await client.pod(await client.namespace());
  const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
  const tolerations = [...(pod.spec.tolerations ?? []), tolerating({ operator: 'Gt', value: '7' })];
  expect(await client.patch(path, mergePatch, { spec: { tolerations } }), 200, { spec: { tolerations } });
  const labels = { a: 'b' };
  expect(await client.patch(path, mergePatch, { metadata: { labels } }), 200, { spec: { tolerations } });
}
