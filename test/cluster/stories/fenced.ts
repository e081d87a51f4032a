// The taint out-of-service, added by the controller: a policy and a label allow it, and a fencing agent says that the machine is off.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { consoleCommand, documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import { ledgerNode as node, takeOut, withLedger } from './ledger.ts';
import type { Story, Times } from './story.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const documentedNode = 'db-3';
const allow = consoleCommand(`kubectl label node ${documentedNode}`, 'policies.md').replaceAll(documentedNode, node);
const declare = consoleCommand(
  `kubectl annotate node ${documentedNode} nodelifecycle/fenced`,
  'policies.md',
).replaceAll(documentedNode, node);

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  return stage.withUpgrade(upgradeWithPolicy(stage), async () => {
    try {
      await cluster.kubectl('label', 'node', node, 'pool=databases', '--overwrite');
      await cluster.atDesk(allow, root);
      return await withLedger(stage, async () => {
        const times = await takeOut(stage, async () => void (await cluster.atDesk(declare, root)));
        return { ...times, ...(await bringBack(stage)) };
      });
    } finally {
      await cluster.kubectl('label', 'node', node, 'pool-', 'nodelifecycle/out-of-service-');
      await cluster.kubectl('annotate', 'node', node, 'nodelifecycle/fenced-');
    }
  });
}

/** The policy of the document, as a file of values. */
function upgradeWithPolicy({ cluster }: Stage): string {
  const policies = documentedBlock('Fenced nodes', 'policies:', 'policies.md', 'yaml');
  const file = join(cluster.settings.folder, 'fenced.yaml');
  writeFileSync(file, `config:\n${policies.replaceAll(/^/gmu, '  ')}\n`);
  const release = 'node-lifecycle-controller charts/node-lifecycle-controller --namespace node-lifecycle-controller';
  return `helm upgrade ${release} --reuse-values --values ${file}`;
}

/** The machine is repaired: the boot ID says so, and the controller removes its taint. */
async function bringBack(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  await cluster.volumes.mountOn(cluster.nodes[node]);
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(node));
  return { well };
}

export const fenced: Story = {
  name: 'fenced',
  about:
    'a worker loses power, a fencing agent says so, and the controller adds the taint out-of-service: a StatefulSet with a volume is whole elsewhere',
  isComparable: false,
  run,
  // As out-of-service; the controller adds the taint when it sees the annotation.
  limits: { unknown: 52, tainted: 5, elsewhere: 35, emptied: 35 },
};
