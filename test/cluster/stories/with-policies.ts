import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage.ts';
import type { ApiObject } from '../machine/api-client.ts';
import type { NodeName } from '../machine/settings.ts';
import { nodeOf } from '../timeline.ts';
import type { Times } from './story.ts';

/** The worker that is a store meanwhile: policies select it by `site: store`. */
export const storeNode = 'n3';

interface StoryNeeds {
  /** Other values of the chart. */
  readonly values?: string;
  /** No replica runs on these nodes when the story begins. */
  readonly withoutReplicas?: readonly NodeName[];
}

/** Runs the story with these policies, a part of a config file, in force for the worker, whose cable is in at the end. */
export async function withPolicies(
  stage: Stage,
  policies: string,
  story: () => Promise<Times>,
  { values = '', withoutReplicas = [] }: StoryNeeds = {},
): Promise<Times> {
  const { cluster } = stage;
  return stage.withUpgrade(upgradeTo(policies, values, stage), async () => {
    try {
      await cluster.kubectl('label', 'node', storeNode, 'site=store', '--overwrite');
      await restartBeside(stage, withoutReplicas);
      return await story();
    } finally {
      await cluster.nodes[storeNode].cable('in');
      await cluster.kubectl('label', 'node', storeNode, 'site-');
    }
  });
}

/** A cordon does not keep the replicas away, whose pods tolerate it. */
const noReplicas = 'example.com/no-replicas';

/** A live setting reaches the replicas through their kubelets, within two minutes: they are restarted, beside these nodes. */
async function restartBeside(stage: Stage, nodes: readonly NodeName[]): Promise<void> {
  const { cluster } = stage;
  try {
    for (const node of nodes) await cluster.kubectl('taint', 'node', node, `${noReplicas}=:NoSchedule`, '--overwrite');
    await stage.restart();
    await cluster.until('no replica of before is left', async () => (await stage.controllerPods()).every(isLasting));
    await cluster.until('a replica leads', async () => stage.isLed());
  } finally {
    for (const node of nodes) await cluster.kubectl('taint', 'node', node, `${noReplicas}-`);
  }
  const replicas = await stage.replicas();
  if (replicas.some((node) => nodes.includes(node))) throw new Error(`replicas are on ${replicas.join(', ')}`);
}

function isLasting({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

interface StorePods {
  /** Number of pods of `web` on the worker now. */
  readonly podsThere: () => number;
  /** The same when its cable was pulled: one at least. */
  readonly before: number;
}

/** Pulls the cable of the worker. */
export async function pullCable({ timeline, cluster }: Stage): Promise<StorePods> {
  const podsThere = (): number => timeline.podsOf('web').filter((pod) => nodeOf(pod) === storeNode).length;
  const before = podsThere();
  if (before === 0) throw new Error(`no pod of web is on ${storeNode}`);
  timeline.mark(`the cable of ${storeNode} is out`);
  await cluster.nodes[storeNode].cable('out');
  return { podsThere, before };
}

/** Plugs it in again; returns the seconds until the node is Ready without taints. */
export async function plugCable(stage: Stage): Promise<number> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${storeNode} is in`);
  await cluster.nodes[storeNode].cable('in');
  return timeline.when('Ready without taints', 90, () => stage.isWell(storeNode));
}

/** An error if it is true at any time within so many seconds. */
export async function expectNever(stage: Stage, seconds: number, what: string, isTrue: () => boolean): Promise<void> {
  const ever = await stage.timeline.everWhile(isTrue, async () => sleep(seconds * 1_000));
  if (ever) throw new Error(`not to be within ${seconds} s: ${what}`);
}

/** A file of values with the policies. */
function upgradeTo(policies: string, values: string, { cluster }: Stage): string {
  const file = join(cluster.settings.folder, 'policies.yaml');
  writeFileSync(file, `config:\n${policies.replaceAll(/^/gmu, '  ')}\n${values}\n`);
  const release = 'node-lifecycle-controller charts/node-lifecycle-controller --namespace node-lifecycle-controller';
  return `helm upgrade ${release} --reuse-values --values ${file}`;
}
