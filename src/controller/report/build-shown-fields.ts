import type { Taint } from '../../machinery/api/taints.ts';
import type { Toleration } from '../../machinery/api/tolerations.ts';

/** A taint as pages show it: its known fields. An object of the API may have others, or a malformed one none of them. */
export function buildShownTaint({ key = '', effect = '', value, timeAdded }: Partial<Taint>): Taint {
  return {
    key,
    effect,
    ...(value === undefined ? {} : { value }),
    ...(timeAdded === undefined ? {} : { timeAdded }),
  };
}

/** A toleration as pages show it: its known fields. */
export function buildShownToleration({ key, operator, value, effect, tolerationSeconds }: Toleration): Toleration {
  return {
    ...(key === undefined ? {} : { key }),
    ...(operator === undefined ? {} : { operator }),
    ...(value === undefined ? {} : { value }),
    ...(effect === undefined ? {} : { effect }),
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}
