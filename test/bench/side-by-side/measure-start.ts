// From the start of the process to its first pass. The sign is the same for both controllers: a node that is Ready carries
// a NoExecute taint from an earlier time, which only a pass over the nodes removes.
import { waitUntil } from '../../control-plane/wait-until.ts';
import { startNode } from './cluster-names.ts';
import { unreachableTaint } from './cluster-objects.ts';
import { type Contender, type Running, startContender } from './contenders.ts';
import type { Stand } from './stand.ts';

const firstPassTimeoutMs = 120_000;
const pollMs = 5;

interface Started {
  readonly running: Running;
  readonly seconds: number;
}

/** Starts a controller and waits for the end of its first pass. */
export async function measureStart(stand: Stand, contender: Contender, graceMs: number): Promise<Started> {
  await prepareNode(stand);
  const { plane, client, script, observer } = stand;
  const startedAtMs = performance.now();
  const starting = startContender(contender, { plane, client, script, graceMs });
  const passed = waitUntil('first pass', { timeoutMs: firstPassTimeoutMs, pollMs }, async () => {
    return observer.node(startNode)?.isTainted === false ? performance.now() : undefined;
  });
  const [running, passedAtMs] = await Promise.all([starting, passed]);
  return { running, seconds: (passedAtMs - startedAtMs) / 1_000 };
}

async function prepareNode({ client, observer }: Stand): Promise<void> {
  const spec = { taints: [unreachableTaint(Date.now())] };
  const merge = { contentType: 'application/merge-patch+json' };
  await client.must('PATCH', `/api/v1/nodes/${startNode}`, { spec }, merge);
  await waitUntil('the taint of the prepared node', { timeoutMs: firstPassTimeoutMs, pollMs }, () => {
    return observer.node(startNode)?.isTainted === true;
  });
}
