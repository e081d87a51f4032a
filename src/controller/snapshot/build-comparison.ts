import type { ShadowRow } from '../../dashboard/protocol.ts';
import type { ShadowReport } from '../shadow/report.ts';

/** The comparison of shadow mode: one row for each kind of act, and one for what is not decided yet. */
export function buildComparison({ totals, open, undecided }: ShadowReport): readonly ShadowRow[] {
  const rows = Object.entries(totals).map(([stage, counts]) => {
    const parts = Object.entries(counts).map(([outcome, count]) => `${outcome.replaceAll('_', ' ')} ${count}`);
    return { stage, text: parts.join(', ') };
  });
  return [...rows, { stage: 'open', text: `${open} open, ${undecided} undecided` }];
}
