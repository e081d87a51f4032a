import type { PolicyObject } from '../../src/machinery/api/node-lifecycle-policy.ts';

/** An object whose spec selects the nodes of the pool of its name, with these fields of the spec. */
export function aPolicyObject(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  over: Partial<PolicyObject> = {},
): PolicyObject {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    createdAt: '2026-11-24T00:00:00Z',
    spec: { nodeSelector: { matchLabels: { pool: name } }, ...spec },
    status: {},
    ...over,
  };
}
