// Placeholders for random, time-dependent and machine-dependent values: a uid is replaced by its object, a time by its step.
import type { AuditedRequest } from '../audit-trail.ts';
import { isRecord } from './json.ts';
import { objectOf } from './requests.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const address = /^\d{1,3}(\.\d{1,3}){3}$/;
const containerId = /^\w[\w.-]*:\/\/\S+$/;
const pullTime = /\d+(\.\d+)?(ns|µs|ms|s)\b/g;
const eventName = /^(.+)\.[0-9a-f]{14,16}$/;
const hash = /^[0-9a-f]{32}$/;

/** Fields written by the server, and images, which the kubelet reads every 30 s. */
const leftOut = new Set(['managedFields', 'images']);

/** Placeholders by field name. */
const placeholders: Readonly<Record<string, string>> = {
  resourceVersion: '<version>',
  Port: '<port>',
  machineID: '<machine>',
  systemUUID: '<machine>',
  bootID: '<machine>',
  kernelVersion: '<release>',
  osImage: '<release>',
  containerRuntimeVersion: '<release>',
  kubeletVersion: '<release>',
  kubeProxyVersion: '<release>',
};

/** The placeholders of one side at one step. */
export class Names {
  readonly #begins: readonly { readonly id: string; readonly atMs: number }[];
  readonly #uids = new Map<string, string>();
  readonly #hashes = new Map<string, string>();

  /** Uids are taken from all requests so far, including those that are not compared. */
  constructor(requests: readonly AuditedRequest[], begins: readonly { readonly id: string; readonly atMs: number }[]) {
    this.#begins = begins;
    const lives = new Map<string, number>();
    for (const request of requests) this.#note(request, lives);
  }

  /** The value with placeholders. */
  replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((element) => this.replace(element));
    if (typeof value === 'string') return this.#replaceText(value);
    if (!isRecord(value)) return value;
    const fields = Object.entries(value).filter(([key]) => !leftOut.has(key));
    return Object.fromEntries(fields.map(([key, field]) => [key, placeholders[key] ?? this.replace(field)]));
  }

  #note(request: AuditedRequest, lives: Map<string, number>): void {
    this.#noteHashes(request.body);
    const metadata = isRecord(request.answer) ? request.answer['metadata'] : undefined;
    const uid = isRecord(metadata) ? metadata['uid'] : undefined;
    if (typeof uid !== 'string' || this.#uids.has(uid)) return;
    const object = objectOf(request);
    const life = (lives.get(object) ?? 0) + 1;
    lives.set(object, life);
    this.#uids.set(uid, `<uid of ${object}, number ${life}>`);
  }

  /** Hashes of manifests, numbered in the order of their occurrence. */
  #noteHashes(value: unknown): void {
    if (typeof value === 'string' && hash.test(value) && !this.#hashes.has(value))
      this.#hashes.set(value, `<hash ${this.#hashes.size + 1}>`);
    else if (typeof value === 'object' && value !== null)
      Object.values(value).forEach((each) => this.#noteHashes(each));
  }

  #replaceText(text: string): string {
    const known = this.#uids.get(text) ?? this.#hashes.get(text);
    if (known !== undefined) return known;
    if (time.test(text)) return this.#stepOf(text);
    if (address.test(text)) return '<address>';
    if (containerId.test(text)) return '<container>';
    if (text.startsWith('Successfully pulled')) return text.replaceAll(pullTime, '<time>');
    return text.replace(eventName, '$1.<when>');
  }

  /** Steps are seconds apart, so whole seconds identify the step. */
  #stepOf(text: string): string {
    const atMs = Date.parse(text);
    const step = this.#begins.findLast((begin) => Math.floor(begin.atMs / 1_000) * 1_000 <= atMs);
    const fraction = text.includes('.') ? ', with fractions' : '';
    return `<time: ${step?.id ?? 'before'}${fraction}>`;
  }
}
