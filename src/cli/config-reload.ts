// What a running process may take up of settings that changed, and what has to wait for the next start.
import { isDeepStrictEqual } from 'node:util';
import type { SettingChange } from '../controller/decisions.ts';
import { controllerFlags } from './controller-flags.ts';
import { brokenRules, type ControllerValues } from './controller-rules.ts';
import { type FlagDefinition, keyOf, showValue } from './flag-definition.ts';

export interface Reload {
  /** What is in force from now on. */
  readonly values: ControllerValues;
  readonly applied: readonly SettingChange[];
  /** In the file and not in force. */
  readonly waiting: readonly SettingChange[];
}

/**
 * Settings that are live are taken over, others wait. What results is a set that nobody wrote: if it breaks a rule between
 * settings, all of them wait.
 */
export function decideReload(inForce: ControllerValues, wanted: ControllerValues): Reload {
  const changed = changedFlags(inForce, wanted);
  const live = changed.filter((flag) => flag.live === true);
  const values = { ...inForce, ...partOf(wanted, live) };
  const show = (flags: readonly FlagDefinition[]): readonly SettingChange[] =>
    flags.map((flag) => changeOf(flag, inForce, wanted));
  if (brokenRules(values, new Set()).length > 0) return { values: inForce, applied: [], waiting: show(changed) };
  return { values, applied: show(live), waiting: show(changed.filter((flag) => flag.live !== true)) };
}

function changedFlags(before: ControllerValues, after: ControllerValues): readonly FlagDefinition[] {
  return controllerFlags.filter(({ name }) => !isDeepStrictEqual(valueOf(before, name), valueOf(after, name)));
}

function changeOf(flag: FlagDefinition, before: ControllerValues, after: ControllerValues): SettingChange {
  const [from, to] = [before, after].map((values) => showValue(flag, valueOf(values, flag.name)));
  return { setting: keyOf(flag.name), from: from ?? '', to: to ?? '' };
}

function partOf(values: ControllerValues, flags: readonly FlagDefinition[]): Partial<ControllerValues> {
  return Object.fromEntries(flags.map(({ name }) => [keyOf(name), valueOf(values, name)]));
}

function valueOf(values: ControllerValues, name: string): unknown {
  return new Map<string, unknown>(Object.entries(values)).get(keyOf(name));
}
