// The command line of the bench.
import { parseArgs } from 'node:util';

export const usage = `npm run bench:large-cluster -- [options]

  --nodes N       number of nodes and leases (default 100000)
  --pods N        number of pods (default 1000000), ten for each node
  --rate N        lease renewals per second (default a tenth of the nodes)
  --seconds N     how long renewals are measured (default 300)
  --svg FILE      where the course over time is drawn (default docs/performance/large-cluster.svg)
  --json FILE     also writes every sample
  --markdown FILE also writes the summary as markdown
`;

export interface Options {
  readonly nodes: number;
  readonly pods: number;
  readonly rate: number;
  readonly seconds: number;
  readonly svg: string;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
  readonly help: boolean;
}

/** Throws an Error that names the option and what is accepted. */
export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      nodes: { type: 'string', default: '100000' },
      pods: { type: 'string' },
      rate: { type: 'string' },
      seconds: { type: 'string', default: '300' },
      svg: { type: 'string', default: 'docs/performance/large-cluster.svg' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { svg, json, markdown, help } = values;
  const nodes = positive('--nodes', values.nodes);
  return {
    nodes,
    pods: values.pods === undefined ? nodes * 10 : positive('--pods', values.pods),
    rate: values.rate === undefined ? nodes / 10 : positive('--rate', values.rate),
    seconds: positive('--seconds', values.seconds),
    svg,
    json,
    markdown,
    help,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${name}: must be an integer > 0 (got ${text})`);
}
