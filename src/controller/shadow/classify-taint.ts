import { healthTaintKeys, type Taint, taintKeys } from '../../machinery/api/taints.ts';
import type { TaintMatter } from './episode.ts';

const noScheduleKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));
const noExecuteKeys: ReadonlySet<string> = new Set(healthTaintKeys);

/** The matter of a taint, if lifecycle controllers manage it; others are not compared. */
export function classifyTaint({ key, effect }: Taint): TaintMatter | undefined {
  if (effect === 'NoSchedule' && noScheduleKeys.has(key)) return `${key}:NoSchedule`;
  if (effect === 'NoExecute' && noExecuteKeys.has(key)) return `${key}:NoExecute`;
  return undefined;
}
