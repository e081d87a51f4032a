// Taints and tolerations as pages show them: their known fields. An object of the API may have others, and a malformed one none of
// them, or null.
import type { Taint } from '../../machinery/api/taints.ts';
import type { Toleration } from '../../machinery/api/tolerations.ts';

type Loose<T> = { readonly [Field in keyof T]?: T[Field] | null };

export function buildShownTaint({ key, effect, value, timeAdded }: Loose<Taint>): Taint {
  return {
    key: key ?? '',
    effect: effect ?? '',
    ...present('value', value),
    ...present('timeAdded', timeAdded),
  };
}

export function buildShownToleration(toleration: Loose<Toleration>): Toleration {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  return {
    ...present('key', key),
    ...present('operator', operator),
    ...present('value', value),
    ...present('effect', effect),
    ...present('tolerationSeconds', tolerationSeconds),
  };
}

function present<Name extends string, T>(name: Name, value: T | null | undefined): { readonly [Key in Name]?: T } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key has the type string
  return value === null || value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: T });
}
