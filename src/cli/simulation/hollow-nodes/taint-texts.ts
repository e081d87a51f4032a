import type { Taint } from '../../../machinery/api/taints.ts';

const taint = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;
/** The accepted values of `--register-with-taints`. */
export const taintTextsPattern =
  /^[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute)(,[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute))*$/;

/** Parses comma-separated `key=value:effect`; entries that do not match are skipped. */
export function parseTaints(text: string | undefined): readonly Taint[] {
  return (text ?? '').split(',').flatMap((part) => {
    const [, key, value, effect] = taint.exec(part) ?? [];
    if (key === undefined || effect === undefined) return [];
    return [{ key, ...(value === undefined ? {} : { value }), effect }];
  });
}
