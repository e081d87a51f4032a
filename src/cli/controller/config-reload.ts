// Decides which changed settings a running process applies, and which require a restart.
import { isDeepStrictEqual } from 'node:util';
import type { SettingChange } from '../../controller/model/decisions.ts';
import { diffPolicies } from '../../policy/schema/describe-policy.ts';
import type { FileSettings } from '../../policy/schema/file-settings.ts';
import { controllerFlags } from './flags.ts';
import { validateControllerValues, type ControllerValues } from './rules.ts';
import { type FlagDefinition, keyOf, optionOf, showValue } from '../flags/flag-definition.ts';

export interface Reload {
  /** The settings after the reload. */
  readonly values: ControllerValues;
  readonly applied: readonly SettingChange[];
  /** Changes in the file that require a restart. */
  readonly waiting: readonly SettingChange[];
}

/**
 * Applies live settings; all others require a restart. If this mix of old and new settings violates a constraint between
 * settings, nothing is applied.
 */
export function decideReload(inForce: ControllerValues, given: ControllerValues): Reload {
  const wanted = withPoliciesOfSource(inForce, given);
  const changed = changedFlags(inForce, wanted);
  const live = changed.filter((flag) => flag.live === true);
  const fileChanges = diffFileSettings(inForce, wanted);
  const values = { ...inForce, ...partOf(wanted, live), ...(fileChanges.length > 0 ? fileSettingsOf(wanted) : {}) };
  const show = (flags: readonly FlagDefinition[]): readonly SettingChange[] =>
    flags.map((flag) => changeOf(flag, inForce, wanted));
  if (validateControllerValues(values, new Set()).length > 0)
    return { values: inForce, applied: [], waiting: [...show(changed), ...fileChanges] };
  return {
    values,
    applied: [...show(live), ...fileChanges],
    waiting: show(changed.filter((flag) => flag.live !== true)),
  };
}

/**
 * Settings without a change of the source of policies, which takes effect with the next start. Until then those in force
 * stay: the file without policies must not end what they hold.
 */
function withPoliciesOfSource(inForce: ControllerValues, wanted: ControllerValues): ControllerValues {
  return inForce.policySource === wanted.policySource ? wanted : { ...wanted, policies: inForce.policies };
}

/** Each changed policy by its name, and the pause. */
function diffFileSettings(before: FileSettings, after: FileSettings): readonly SettingChange[] {
  const policies = diffPolicies(before.policies, after.policies, (name) => `policies[${name}]`);
  if (before.paused === after.paused) return policies;
  return [...policies, { setting: 'paused', from: String(before.paused), to: String(after.paused) }];
}

function fileSettingsOf({ policies, paused }: FileSettings): FileSettings {
  return { policies, paused };
}

function changedFlags(before: ControllerValues, after: ControllerValues): readonly FlagDefinition[] {
  return controllerFlags.filter((flag) => !isDeepStrictEqual(valueOf(before, flag), valueOf(after, flag)));
}

function changeOf(flag: FlagDefinition, before: ControllerValues, after: ControllerValues): SettingChange {
  const [from, to] = [before, after].map((values) => showValue(flag, valueOf(values, flag)));
  return { setting: keyOf(flag.name), from: from ?? '', to: to ?? '' };
}

function partOf(values: ControllerValues, flags: readonly FlagDefinition[]): Partial<ControllerValues> {
  return Object.fromEntries(flags.map((flag) => [optionOf(flag), valueOf(values, flag)]));
}

function valueOf(values: ControllerValues, flag: FlagDefinition): unknown {
  return new Map<string, unknown>(Object.entries(values)).get(optionOf(flag));
}
