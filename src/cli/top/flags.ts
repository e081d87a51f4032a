import { serverFlags } from '../client/flags.ts';
import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';

const sortKeys = ['next', 'name', 'state', 'zone', 'since'] as const;
export type SortKey = (typeof sortKeys)[number];

export const topDisplayFlags = [
  ...flagGroup('Display', [
    flag.duration('interval', 'Time between two refreshes', { default: '2s', range: { min: 500, max: 3_600_000 } }),
    flag.boolean('watch', 'Without a terminal: print the tables again after each interval, until interrupted', {
      short: 'w',
      default: false,
    }),
    flag.text('sort', 'Order of the nodes: by time of the next act, name, state, zone, or time since the last change', {
      default: 'next',
      choices: sortKeys,
    }),
    flag.text('filter', 'Show nodes, zones and pods whose line contains this text'),
    flag.integer('max-nodes', 'Maximum number of nodes to read', { default: 500, range: { min: 1, max: 500 } }),
  ]),
] as const satisfies readonly FlagDefinition[];

/** `nlc top`: how it is displayed, server and credentials. */
export const topFlags = [...topDisplayFlags, ...serverFlags] as const satisfies readonly FlagDefinition[];
