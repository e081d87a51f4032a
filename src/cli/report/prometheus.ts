// Queries to Prometheus, by its HTTP API.
import * as z from 'zod';
import { parsedOf } from '../../machinery/api/json-map.ts';

const queryMsMax = 60_000;
/** A longer answer is not of these queries. */
const bytesMax = 10_000_000;

/** A sample of an answer: its labels, and its value. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const answerSchema = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});

/** Rejects with an Error that names the server and what it answered. */
export class Prometheus {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, token: string | undefined) {
    this.#url = url.endsWith('/') ? url.slice(0, -1) : url;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async query(expression: string, signal: AbortSignal): Promise<readonly Sample[]> {
    const url = `${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const text = await this.#get(url, AbortSignal.any([signal, AbortSignal.timeout(queryMsMax)]));
    const read = answerSchema.safeParse(parsedOf(text));
    if (!read.success) throw new Error(`${this.#url}: no answer to a query of Prometheus: ${text.slice(0, 200)}`);
    const samples = read.data.data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    return samples.filter(({ value }) => Number.isFinite(value));
  }

  async #get(url: string, signal: AbortSignal): Promise<string> {
    try {
      const answer = await fetch(url, { headers: this.#headers, redirect: 'error', signal });
      const text = await answer.text();
      if (answer.ok && text.length <= bytesMax) return text;
      throw new Error(answer.ok ? 'the answer is too long' : `status ${answer.status}: ${text.slice(0, 200)}`);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      throw new Error(`${this.#url}: ${error instanceof Error ? error.message : String(error)}${cause}`, {
        cause: error,
      });
    }
  }
}
