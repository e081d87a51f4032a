// The schema of an action: what a button of the dashboard requests. Each problem names the field, the accepted values and the
// given one.
import * as z from 'zod';
import { problemsOf, wholeNumber } from '../../io/document-schema.ts';
import type { Read } from '../../../machinery/yaml/yaml-text.ts';

export interface CutAction {
  readonly kind: 'cut';
  /** Names, or patterns with `*` and `?`; any node when absent. */
  readonly nodes?: readonly string[] | undefined;
  /** Zone as the dashboard shows it; any zone when absent. */
  readonly zone?: string | undefined;
  /** Share of the selected nodes; all of them when absent. */
  readonly share?: number | undefined;
  /** Duration; until it is undone when absent. */
  readonly seconds?: number | undefined;
}

export type Action =
  | CutAction
  | { readonly kind: 'stall-api'; readonly seconds: number }
  | { readonly kind: 'stop-leader' }
  | { readonly kind: 'undo' };

export type ActionKind = Action['kind'];

const namesMax = 1_000;
const patternsMax = 20;
const cutSecondsMax = 3_600;
const stallSecondsMax = 120;
const stallSecondsDefault = 20;

const nameText =
  'a node name of up to 253 characters, in which * matches any text and ? one character, with at most 3 *';
const nodeName = z
  .string({ error: nameText })
  .max(253, { error: nameText })
  .regex(/^[^*]+(?:\*[^*]*){0,3}$|^(?:\*[^*]*){1,3}$/u, { error: nameText });
const namesText = `a list of 1 to ${namesMax} node names, at most ${patternsMax} of them with * or ?`;
const names = z
  .array(nodeName, { error: namesText })
  .min(1, { error: namesText })
  .max(namesMax, { error: namesText })
  .refine((given) => given.filter(isPattern).length <= patternsMax, { error: namesText });
const shareText = 'a number > 0 and <= 1';

const kinds = {
  cut: z.strictObject({
    kind: z.literal('cut'),
    nodes: names.nullish(),
    zone: z.string({ error: 'the name of a zone' }).max(1_000, { error: 'the name of a zone' }).nullish(),
    share: z.number({ error: shareText }).gt(0, { error: shareText }).max(1, { error: shareText }).nullish(),
    seconds: wholeNumber(1, cutSecondsMax).nullish(),
  }),
  'stall-api': z.strictObject({
    kind: z.literal('stall-api'),
    seconds: wholeNumber(1, stallSecondsMax).nullish(),
  }),
  'stop-leader': z.strictObject({ kind: z.literal('stop-leader') }),
  undo: z.strictObject({ kind: z.literal('undo') }),
} as const;

/** `offered`: the kinds that this server has. */
export function readAction(given: unknown, offered: readonly ActionKind[]): Read<Action> {
  if (offered.length === 0) return { problems: ['kind: this server has no actions'] };
  const kindText = `one of ${offered.join(', ')}`;
  const kindSchema = z.object(
    { kind: z.custom<ActionKind>((kind) => offered.some((known) => known === kind), { error: kindText }) },
    { error: 'an object with kind' },
  );
  const read = kindSchema.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given) };
  const { kind } = read.data;
  switch (kind) {
    case 'cut':
      return readCut(given);
    case 'stall-api': {
      const stall = kinds['stall-api'].safeParse(given);
      if (!stall.success) return { problems: problemsOf(stall.error, given) };
      return { value: { kind, seconds: stall.data.seconds ?? stallSecondsDefault } };
    }
    case 'stop-leader':
    case 'undo': {
      const plain = kinds[kind].safeParse(given);
      return plain.success ? { value: { kind } } : { problems: problemsOf(plain.error, given) };
    }
  }
}

function readCut(given: unknown): Read<CutAction> {
  const read = kinds.cut.safeParse(given);
  if (!read.success) return { problems: problemsOf(read.error, given) };
  const { kind, nodes, zone, share, seconds } = read.data;
  return {
    value: {
      kind,
      nodes: nodes ?? undefined,
      zone: zone ?? undefined,
      share: share ?? undefined,
      seconds: seconds ?? undefined,
    },
  };
}

/** Whether a name stands for several. */
export function isPattern(name: string): boolean {
  return /[*?]/u.test(name);
}
