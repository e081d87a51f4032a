import { ownValue } from '../../machinery/api/json-map.ts';
import type { SortKey } from './flags.ts';

/** Choices of the user. */
export interface TopState {
  readonly sort: SortKey;
  readonly reversed: boolean;
  readonly filter: string;
  /** The filter is being typed. */
  readonly editing: boolean;
  /** Number of nodes above the first visible one. */
  readonly offset: number;
}

const sortOf: Readonly<Record<string, SortKey>> = { t: 'next', n: 'name', s: 'state', z: 'zone', a: 'since' };
const steps: Readonly<Record<string, number>> = {
  j: 1,
  '\x1b[B': 1,
  k: -1,
  '\x1b[A': -1,
  '\x1b[6~': 10,
  '\x1b[5~': -10,
};
const interrupt = '\x03';
const escape = '\x1b';
const filterCharsMax = 100;

/** The keys in a chunk of input: an escape sequence is one key. */
export function parseKeys(input: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- keys are control characters
  return input.match(/\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[^]/gu) ?? [];
}

/** The state after a key; `quit` ends the program. */
export function decideKey(state: TopState, key: string): TopState | 'quit' {
  if (key === interrupt) return 'quit';
  if (state.editing) return decideEditing(state, key);
  if (key === 'q') return 'quit';
  if (key === '/') return { ...state, editing: true, filter: '', offset: 0 };
  if (key === escape) return { ...state, filter: '', offset: 0 };
  if (key === 'r') return { ...state, reversed: !state.reversed };
  const sort = ownValue(sortOf, key);
  if (sort !== undefined) return { ...state, sort, offset: 0 };
  const step = ownValue(steps, key);
  return step === undefined ? state : { ...state, offset: Math.max(0, state.offset + step) };
}

function decideEditing(state: TopState, key: string): TopState {
  if (key === '\r' || key === '\n') return { ...state, editing: false };
  if (key === escape) return { ...state, editing: false, filter: '' };
  if (key === '\x7f' || key === '\b') return { ...state, filter: state.filter.slice(0, -1) };
  const isText = /^[\x20-\x7e]$/.test(key) && state.filter.length < filterCharsMax;
  return isText ? { ...state, filter: state.filter + key } : state;
}
