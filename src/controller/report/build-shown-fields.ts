import type { Taint } from '../../machinery/api/taints.ts';
import type { Toleration } from '../../machinery/api/tolerations.ts';

/** A taint as pages show it: its known fields, as text. An object of the API may have others, or a malformed one none of them. */
export function buildShownTaint({ key, effect, value, timeAdded }: Taint): Taint {
  return {
    key: String(key),
    effect: String(effect),
    ...(value === undefined ? {} : { value: String(value) }),
    ...(timeAdded === undefined ? {} : { timeAdded: String(timeAdded) }),
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
