/** What one object uses, and which scopes of quotas it is in. */
import { ownValue } from '../../api/json-map.ts';
import { mapAt, mapsAt, textAt, textsAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { Amounts } from './merge-amounts.ts';

export interface Measurement {
  readonly usage: Amounts;
  /** What it uses after that time, in milliseconds since the epoch. */
  readonly later?: { readonly afterMs: number; readonly usage: Amounts } | undefined;
  readonly scopes: ScopeFacts;
}

export interface ScopeFacts {
  /** The scopes that it is in without a further condition. */
  readonly names: ReadonlySet<string>;
  /** By scope that selects classes: the classes of the object. */
  readonly classes: Readonly<Record<string, readonly string[]>>;
}

export interface ScopeSelector {
  readonly scope: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export const noScopes: ScopeFacts = { names: new Set(), classes: {} };
export const noMeasurement: Measurement = { usage: new Map(), scopes: noScopes };

export function usageAt({ usage, later }: Measurement, nowMs: number): Amounts {
  return later !== undefined && nowMs > later.afterMs ? later.usage : usage;
}

/** The scopes of a quota; all of them must select an object. */
export function selectorsOf({ spec }: Draft): readonly ScopeSelector[] {
  return [
    ...textsAt(spec, 'scopes').map((scope) => ({ scope, operator: 'Exists', values: [] })),
    ...mapsAt(mapAt(spec, 'scopeSelector'), 'matchExpressions').map((expression) => ({
      scope: textAt(expression, 'scopeName'),
      operator: textAt(expression, 'operator'),
      values: textsAt(expression, 'values'),
    })),
  ];
}

export function isSelected({ names, classes }: ScopeFacts, selectors: readonly ScopeSelector[]): boolean {
  return selectors.every(({ scope, operator, values }) => {
    const own = ownValue(classes, scope);
    if (own === undefined || operator === 'Exists') return names.has(scope);
    return selectsClass(own, operator, values);
  });
}

/** An object of several classes is selected if one of them is. */
function selectsClass(classes: readonly string[], operator: string, values: readonly string[]): boolean {
  if (operator === 'DoesNotExist') return classes.length === 0;
  if (operator === 'In') return classes.some((name) => values.includes(name));
  return classes.length === 0 || classes.some((name) => !values.includes(name));
}
