// A window of a schedule: a worker without a cable keeps its pods until the window ends.
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

const minuteMs = 60_000;
/** For the upgrade, and for a silence to be known. */
const windowMs = 4 * minuteMs;
/** Times in taints have whole seconds, and nodes are looked at once a second. */
const earlySeconds = 3;

async function run(stage: Stage): Promise<Times> {
  const endsAtMs = Date.now() + windowMs;
  return withPolicies(stage, policiesWithWindow(endsAtMs), async () => isKept(stage, endsAtMs));
}

/** A window that began with this minute, and ends at this time. */
function policiesWithWindow(endsAtMs: number): string {
  const startsAtMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const start = new Date(startsAtMs);
  const cron = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
  const duration = `${Math.round((endsAtMs - startsAtMs) / 1_000)}s`;
  return `policies:
  - name: store
    nodeSelector: { matchLabels: { site: store } }
    schedules:
      - { cron: ${cron}, duration: ${duration}, set: { mode: Detect } }`;
}

async function isKept(stage: Stage, endsAtMs: number): Promise<Times> {
  const { timeline } = stage;
  const { podsThere, before } = await pullCable(stage);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const leftSeconds = (endsAtMs - Date.now()) / 1_000;
  if (leftSeconds < 10) throw new Error(`the window ends in ${leftSeconds} s: there is nothing to see`);
  await timeline.when('NoExecute', leftSeconds + unknown + 60, () => {
    const isTainted = stage.isTainted(node);
    if (!isTainted && podsThere() < before) throw new Error(`pods of ${node} were evicted before the window ended`);
    return isTainted;
  });
  const late = (Date.now() - endsAtMs) / 1_000;
  if (late < -earlySeconds) throw new Error(`tainted ${-late} s before the end of the window`);
  const replaced = await timeline.when('4 of 4 serve', 360, () => stage.servingBeside('web', node) === 4);
  const well = await plugCable(stage);
  return { unknown, late: Math.max(0, late), replaced, well };
}

export const window: Story = {
  name: 'window',
  about:
    'a schedule sets mode Detect for some minutes: a worker without a cable is Unknown, and is emptied when the window ends',
  isComparable: false,
  run,
  // A token of the zone is there.
  limits: { unknown: 52, late: 12 },
};
