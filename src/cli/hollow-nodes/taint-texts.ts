import type { Taint } from '../../api/taints.ts';

const taint = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;
/** What `--register-with-taints` takes. */
export const taintTextsPattern =
  /^[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute)(,[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute))*$/;

/** `key=value:effect`, separated by commas; what does not look so is left out. */
export function parseTaints(text: string | undefined): readonly Taint[] {
  return (text ?? '').split(',').flatMap((part) => {
    const [, key, value, effect] = taint.exec(part) ?? [];
    if (key === undefined || effect === undefined) return [];
    return [{ key, ...(value === undefined ? {} : { value }), effect }];
  });
}
