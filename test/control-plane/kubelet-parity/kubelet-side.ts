// One side of the comparison: a control plane with an audit log, and one of the two kubelets.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditedRequest, AuditTrail } from '../audit-trail.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import type { RestClient } from '../rest-client.ts';
import { ManifestServer } from './manifest-server.ts';
import { type Kubelet, type KubeletOptions, HollowKubelet, RealKubelet } from './kubelets.ts';
import { isCompared, isRenewal, lineOf } from './requests.ts';

const quietMsDefault = 2_500;
const stepTimeoutMs = 45_000;
const pollMs = 200;
const user = 'kubelet';
const namePrefix = 'parity';
export const nodeName = `${namePrefix}-0`;

type Which = 'upstream' | 'nlc';

/** The actions that a step may use. */
interface World {
  readonly client: RestClient;
  readonly kubelet: Kubelet;
  /** Writes the file in the static pod folder; undefined removes it. */
  writeStaticPod(text: string | undefined): void;
  /** Sets the pods that the static pod URL serves. */
  serveStaticPods(pods: readonly object[]): void;
}

/** The state that a step may check for its completion. */
export interface View {
  readonly client: RestClient;
  /** The requests of the kubelet in this step, as `VERB subresource code object`. */
  readonly said: readonly string[];
  /** Since the step began. */
  readonly sinceMs: number;
}

export interface Step {
  readonly id: string;
  readonly name: string;
  readonly act: (world: World) => Promise<unknown>;
  /** The result of the step is reached. The step ends when the kubelet has sent no request for `quietMs` after that. */
  readonly isDone: (view: View) => Promise<boolean>;
  readonly quietMs?: number;
  /** The result must not be reached earlier. */
  readonly notBeforeMs?: number;
  /** The number of lease renewals that the step waits for and compares; others are not compared. */
  readonly renewals?: number;
  /** Pairs of lines (or prefixes) about different objects that must occur in this order. */
  readonly order?: readonly (readonly [earlier: string, later: string])[];
}

/** The result of a step. */
export interface StepOutcome {
  readonly isDone: boolean;
  /** The error if the step could not run. */
  readonly complaint: string | undefined;
  readonly tookMs: number;
  /** When the result was reached first; undefined: it was not. */
  readonly doneMs: number | undefined;
  readonly requests: readonly AuditedRequest[];
}

/** Made by {@link KubeletSide.start}; its control plane ends with the test's process at the latest. */
export class KubeletSide implements World {
  readonly which: Which;
  readonly client: RestClient;
  readonly kubelet: Kubelet;
  readonly #plane: ControlPlane;
  readonly #manifests: ManifestServer;
  readonly #trail: AuditTrail;
  readonly #staticPodFolder: string;
  readonly #begins: { readonly id: string; readonly atMs: number }[] = [];
  /** Index of the first request of the next step. */
  #place = 0;

  private constructor(which: Which, plane: ControlPlane, manifests: ManifestServer) {
    this.which = which;
    this.#plane = plane;
    this.#manifests = manifests;
    this.client = plane.client();
    this.#trail = new AuditTrail(plane.auditLogFile!, user);
    const kubeconfigFile = plane.kubeconfigFor(plane.tokenOf(user));
    this.#staticPodFolder = join(plane.folder, 'static-pods');
    mkdirSync(this.#staticPodFolder);
    const staticPodFolder = this.#staticPodFolder;
    const staticPodUrl = manifests.url;
    const options: KubeletOptions = { plane, kubeconfigFile, namePrefix, staticPodFolder, staticPodUrl };
    this.kubelet = which === 'upstream' ? new RealKubelet(options) : new HollowKubelet(options);
  }

  static async start(which: Which): Promise<KubeletSide> {
    const users = [{ name: user, groups: ['system:masters'] }];
    const plane = await startControlPlane({ users, auditLevel: 'RequestResponse' });
    return new KubeletSide(which, plane, await ManifestServer.start());
  }

  /** When each step started, wall clock. */
  get begins(): readonly { readonly id: string; readonly atMs: number }[] {
    return this.#begins;
  }

  /** All requests of the kubelet so far. */
  requests(): readonly AuditedRequest[] {
    return this.#trail.requests();
  }

  writeStaticPod(text: string | undefined): void {
    const file = join(this.#staticPodFolder, 'pod.json');
    if (text === undefined) return rmSync(file);
    // Written by rename, so that the kubelet never reads a partial file.
    const unfinished = `${this.#staticPodFolder}.unfinished`;
    writeFileSync(unfinished, text);
    renameSync(unfinished, file);
  }

  serveStaticPods(pods: readonly object[]): void {
    this.#manifests.serve({ apiVersion: 'v1', kind: 'PodList', items: pods });
  }

  /** Runs one step and returns its requests once no more are sent. */
  async play(step: Step): Promise<StepOutcome> {
    const startedMs = performance.now();
    this.#begins.push({ id: step.id, atMs: Date.now() });
    let complaint = await complaintOf(() => step.act(this));
    const sinceMs = (): number => performance.now() - startedMs;
    let isDone = false;
    let doneMs: number | undefined;
    while (complaint === undefined && sinceMs() < stepTimeoutMs) {
      complaint = this.kubelet.failure();
      isDone = await this.#isDone(step);
      if (isDone) doneMs ??= sinceMs();
      if (isDone && this.#quietMs() >= (step.quietMs ?? quietMsDefault)) break;
      await sleep(pollMs);
    }
    const tookMs = sinceMs();
    return { isDone, complaint, tookMs, doneMs, requests: this.#take(step) };
  }

  async stop(): Promise<void> {
    await this.kubelet.stop();
    await this.#manifests.close();
    await this.#plane.stop();
  }

  async #isDone(step: Step): Promise<boolean> {
    const requests = this.#inStep();
    if (requests.filter(isRenewal).length < (step.renewals ?? 0)) return false;
    const sinceMs = Date.now() - (this.#begins.at(-1)?.atMs ?? 0);
    return step.isDone({ client: this.client, said: requests.filter(isCompared).map(lineOf), sinceMs });
  }

  /** Time since the last request, not counting renewals. */
  #quietMs(): number {
    const begin = this.#begins.at(-1)?.atMs ?? 0;
    const last = this.#inStep().findLast((request) => isCompared(request) && !isRenewal(request));
    return Date.now() - Math.max(begin, last?.atMs ?? 0);
  }

  #inStep(): readonly AuditedRequest[] {
    return this.#trail.requests().slice(this.#place);
  }

  #take({ renewals = 0 }: Step): readonly AuditedRequest[] {
    const requests = this.#inStep();
    this.#place += requests.length;
    let renewed = 0;
    return requests.filter((request) => {
      if (!isCompared(request)) return false;
      if (!isRenewal(request)) return true;
      renewed += 1;
      return renewed <= renewals;
    });
  }
}

async function complaintOf(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
