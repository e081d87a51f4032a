import { accounts, auditedWrites } from '../audit-log.ts';
import type { Mode } from '../installation.ts';
import { otherControllers, withoutReplaced } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf, podNames } from '../timeline.ts';
import { podOn } from './pod-on.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';
const { inTree, own } = accounts;

const withoutEvictor = `${otherControllers},-taint-eviction-controller`;

/** One row of a table of docs/install.md: "Migration steps", or "Go back", where kube-controller-manager is first. */
interface Step {
  readonly name: string;
  readonly mode: Mode;
  readonly controllers: string;
  readonly isBack: boolean;
  readonly evictor: string;
}

const steps: readonly Step[] = [
  { name: 'shadow', mode: 'shadow', controllers: otherControllers, isBack: false, evictor: inTree },
  { name: 'evictor-only', mode: 'evictor-only', controllers: withoutEvictor, isBack: false, evictor: own },
  { name: 'replace', mode: 'replace', controllers: withoutReplaced, isBack: false, evictor: own },
  { name: 'back-to-evictor-only', mode: 'evictor-only', controllers: withoutEvictor, isBack: true, evictor: own },
  { name: 'back-to-shadow', mode: 'shadow', controllers: otherControllers, isBack: true, evictor: inTree },
];

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await stage.use('kube-controller-manager');
  await cluster.apply(podOn(node, 'staying', { toleratesSeconds: undefined }));
  await timeline.when('the staying pod runs', 60, () => timeline.podsOf('staying').some(isServing));
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  await timeline.when('Unknown', 120, () => stage.isUnknown(node));
  await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  const times: Record<string, number> = {};
  const serving = servingOn(stage);
  const isHarmed = (): boolean => !stage.isUnknown(node) || isStayingGone(stage) || servingOn(stage) !== serving;
  const harmed = await timeline.everWhile(isHarmed, async () => {
    for (const step of steps) times[step.name] = await take(stage, step);
  });
  if (harmed) throw new Error(`${node} did not stay Unknown, or a pod was deleted that should have stayed`);
  const ends = await plugIn(stage);
  await stage.installation.uninstall('uninstall the release');
  return { ...times, ...ends };
}

/** Serving pods of the workload on living nodes. */
function servingOn({ timeline }: Stage): string {
  return podNames(timeline.podsOf('web').filter((pod) => isServing(pod) && nodeOf(pod) !== node));
}

function isStayingGone({ timeline }: Stage): boolean {
  return timeline.podsOf('staying').every(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

/** Seconds until a pod that is bound to the silent node, and tolerates it for 10 s, is deleted by the one that shall. */
async function take(stage: Stage, step: Step): Promise<number> {
  const { timeline, cluster } = stage;
  timeline.mark(`migration: ${step.name}`);
  const startedMs = Date.now();
  await change(stage, step);
  const changedMs = Date.now();
  await timeline.when('NoExecute', 60, () => stage.isTainted(node));
  const name = `leaving-${step.name}`;
  timeline.mark(`a pod for ${node}`);
  await cluster.apply(podOn(node, name, { toleratesSeconds: 10 }));
  await timeline.when(`${name} is there`, 10, () => timeline.podsOf(name).length > 0);
  const isDeleted = (): boolean =>
    timeline.podsOf(name).every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const evicted = await timeline.when(`${name} is deleted`, 90, isDeleted);
  const deleter = (): string | undefined =>
    auditedWrites(cluster.controlPlane.auditLog, startedMs).find(
      ({ verb, target }) => verb === 'delete' && target === `pods shop/${name}`,
    )?.user;
  // A watch may show a write before the audit log does.
  await cluster.until(`the audit log has the deletion of ${name}`, async () => deleter() !== undefined);
  const by = deleter();
  if (by !== step.evictor) throw new Error(`${step.name}: ${name} was deleted by ${by}, not ${step.evictor}`);
  if (step.mode === 'shadow') await expectShadow(stage, changedMs);
  return evicted;
}

/** Installs it, or changes its mode, and the list of kube-controller-manager's controllers. */
async function change(stage: Stage, { name, mode, controllers, isBack }: Step): Promise<void> {
  const { installation } = stage;
  if (isBack) await installation.restartControllerManager(controllers);
  if (name === 'shadow') await installation.helm(mode);
  else await installation.run('change the mode', { 'evictor-only': mode });
  await stage.rolledOut();
  if (!isBack) await installation.restartControllerManager(controllers);
}

/** One pod, which writes nothing. */
async function expectShadow(stage: Stage, sinceMs: number): Promise<void> {
  const writes = auditedWrites(stage.cluster.controlPlane.auditLog, sinceMs);
  const first = writes.find(({ user }) => user === own);
  if (first !== undefined) throw new Error(`shadow wrote: ${first.verb} ${first.target}`);
  const replicas = await stage.replicas();
  if (replicas.length !== 1) throw new Error(`shadow has ${replicas.length} pods`);
  if (await stage.isLed().catch(() => false)) throw new Error('shadow has a leader');
}

async function plugIn(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  const areCleared = (): boolean => steps.every(({ name }) => timeline.podsOf(`leaving-${name}`).length === 0);
  const cleared = await timeline.when('old pods gone', 120, areCleared);
  if (isStayingGone(stage)) throw new Error('the pod that tolerates a dead node for ever is gone');
  await cluster.kubectl('delete', 'pod', '--namespace', 'shop', 'staying');
  return { well, cleared };
}

export const migration: Story = {
  name: 'migration',
  about: 'shadow, evictor-only, replace and back, as docs/install.md says, while a node is silent throughout',
  isComparable: false,
  run,
  // 10 s are tolerated; kube-controller-manager, when it starts, removes the taint and adds it again, after 10 s in its zone's queue.
  limits: { shadow: 45, 'evictor-only': 45, replace: 15, 'back-to-evictor-only': 45, 'back-to-shadow': 45 },
};
