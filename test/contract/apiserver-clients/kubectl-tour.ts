// Runs the commands of the tour on a server and compares the answers with those of a real kube-apiserver.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiServerOptions } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { findKubectl } from '../../../tools/control-plane/binaries.ts';
import { embeddedBackend } from '../apiserver/backend.ts';
import { type KubectlAnswer, toAnswer } from './kubectl-answer.ts';
import { Kubectl } from './kubectl-run.ts';
import { type TourRow, tourRows } from './kubectl-tour-rows.ts';

/** What a real kube-apiserver answered, and the embedded one for a row that says why it differs. */
export interface RecordedAnswer {
  readonly command: string;
  readonly real: KubectlAnswer;
  readonly embedded?: KubectlAnswer;
}

/** The release of the kubectl whose answers are recorded. */
const recordedRelease = 'v1.37.2';

export const tourRecordFile = join(import.meta.dirname, 'kubectl-tour.json');

/** The user of the tour. */
export const tourist = { user: 'kubernetes-admin', uid: 'kubernetes-admin', groups: ['system:masters'] } as const;

/** The record, in the order of the rows. */
export function readTourRecord(): readonly RecordedAnswer[] {
  return JSON.parse(readFileSync(tourRecordFile, 'utf8')) as readonly RecordedAnswer[];
}

/** The kubectl of the recorded release; other releases print other texts. Undefined if there is none. */
export function findTourKubectl(): string | undefined {
  const binary = findKubectl();
  if (binary === undefined) return undefined;
  const version = execFileSync(binary, ['version', '--client'], { encoding: 'utf8' });
  return version.includes(`Client Version: ${recordedRelease}\n`) ? binary : undefined;
}

/** An embedded server that is configured as the kube-apiserver of the record. */
export function startTouredServer(options: Partial<ApiServerOptions> = {}): ReturnType<typeof embeddedBackend> {
  const tokens = [{ token: randomBytes(16).toString('hex'), ...tourist }];
  return embeddedBackend({ tokens, authorizationMode: 'RBAC', customResources: [], ...options });
}

/** The command line of a row. */
export function describeRow({ command, last }: TourRow): string {
  return last === undefined ? command : `${command} ${last}`;
}

/** Runs all rows one after another on an empty cluster. */
export async function takeTour(
  binary: string,
  target: ConstructorParameters<typeof Kubectl>[1],
): Promise<readonly KubectlAnswer[]> {
  const kubectl = new Kubectl(binary, target);
  try {
    const answers: KubectlAnswer[] = [];
    for (const row of tourRows) answers.push(await answerOf(kubectl, row, target.url));
    return answers;
  } finally {
    kubectl.forget();
  }
}

async function answerOf(kubectl: Kubectl, row: TourRow, url: string): Promise<KubectlAnswer> {
  const args = [...row.command.split(' '), ...(row.last === undefined ? [] : [row.last])];
  const stdin = row.stdin === undefined ? '' : JSON.stringify(row.stdin);
  const variables = { TZ: 'UTC', ...(row.editor === undefined ? {} : { KUBE_EDITOR: row.editor }) };
  return toAnswer(await kubectl.run(args, stdin, variables), url, row.sorted);
}
