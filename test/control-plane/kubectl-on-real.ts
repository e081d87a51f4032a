// The tour of kubectl and its drain on a real control plane.
import { readFileSync } from 'node:fs';
import type { KubectlAnswer } from '../contract/apiserver-clients/kubectl-answer.ts';
import { type DrainStep, runDrainScenario } from '../contract/apiserver-clients/kubectl-drain.ts';
import { takeTour, tourist } from '../contract/apiserver-clients/kubectl-tour.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

const users = [{ name: tourist.user, groups: tourist.groups }];

/** The answers of a kube-apiserver that is started for this tour, and the path of the kubectl that took it. */
export async function takeRealTour(): Promise<{
  readonly answers: readonly KubectlAnswer[];
  readonly kubectl: string;
}> {
  await using plane = await startControlPlane({ users });
  const { kubectl } = plane.binaries;
  return { answers: await takeTour(kubectl, targetOf(plane)), kubectl };
}

/** The steps of the drain on a kube-apiserver that is started for it, with the disruption controller. */
export async function drainRealNodes(): Promise<readonly DrainStep[]> {
  await using plane = await startControlPlane({ users });
  await plane.startControllerManager(['--controllers=disruption-controller']);
  return await runDrainScenario(plane.binaries.kubectl, targetOf(plane));
}

function targetOf(plane: ControlPlane): Parameters<typeof takeTour>[1] {
  return { url: plane.url, token: plane.tokenOf(tourist.user), ca: readFileSync(plane.caFile, 'utf8') };
}
