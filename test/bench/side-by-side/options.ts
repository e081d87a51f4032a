// The command line of the bench.
import { parseArgs } from 'node:util';
import { type Contender, contenders } from './contenders.ts';

export const usage = `npm run bench:side-by-side -- [options]

  --nodes N           number of nodes (default 2000), at least 120
  --pods-per-node M   pods on each node (default 10)
  --first NAME        which controller is measured first: kube-controller-manager (default) or nlc
  --quick             short windows: whether it works, not how fast it is
  --growth            several sizes one after another, and the exponent of each figure
  --sizes LIST        the sizes (default 500,1000,2000,5000)
  --svg FILE          where --growth draws the figures (default docs/performance/growth.svg)
  --json FILE         also writes all figures, with every window
  --from FILES        measures nothing: the tables and the growth of earlier runs, from their --json files, comma-separated
  --markdown FILE     also writes the table as markdown
`;

const nodesMin = 120;

export interface Options {
  /** One size, or several with --growth. */
  readonly sizes: readonly number[];
  readonly podsPerNode: number;
  readonly first: Contender;
  readonly quick: boolean;
  readonly growth: boolean;
  readonly svg: string;
  readonly json: string | undefined;
  /** Files of earlier runs, which are not measured again. */
  readonly from: readonly string[];
  readonly markdown: string | undefined;
  readonly help: boolean;
}

/** Throws an Error that names the option and what is accepted. */
export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      nodes: { type: 'string', default: '2000' },
      'pods-per-node': { type: 'string', default: '10' },
      first: { type: 'string', default: contenders[0] },
      quick: { type: 'boolean', default: false },
      growth: { type: 'boolean', default: false },
      sizes: { type: 'string', default: '500,1000,2000,5000' },
      svg: { type: 'string', default: 'docs/performance/growth.svg' },
      json: { type: 'string' },
      from: { type: 'string', default: '' },
      markdown: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { quick, growth, svg, json, markdown, help } = values;
  const sizes = growth
    ? values.sizes.split(',').map((text) => wholeNumber('--sizes', text, nodesMin))
    : [wholeNumber('--nodes', values.nodes, nodesMin)];
  const podsPerNode = wholeNumber('--pods-per-node', values['pods-per-node'], 1);
  const from = values.from.split(',').filter((file) => file !== '');
  return { sizes, podsPerNode, first: contenderOf(values.first), quick, growth, svg, json, from, markdown, help };
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min) return value;
  throw new Error(`${name}: must be an integer >= ${min} (got ${text})`);
}

function contenderOf(text: string): Contender {
  const contender = contenders.find((name) => name === text);
  if (contender === undefined) throw new Error(`--first: must be one of ${contenders.join(', ')} (got ${text})`);
  return contender;
}
