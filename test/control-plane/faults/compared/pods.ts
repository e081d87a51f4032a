// Pods that appear while the controller knows nothing of their node yet.
import { graceMs, patient } from '../scene.ts';
import type { ComparedScenario } from './compared-scenario.ts';
import { secondsUntil } from './seconds-until.ts';

const markedMs = 15_000;

const boundMeanwhile: ComparedScenario = {
  title: 'limitation 41: pods of an Unknown node that became Ready while no controller ran are marked NotReady',
  pods: [['before', 'a0', patient]],
  async play(scene, measure) {
    scene.cluster.stopHeartbeats('a0');
    await scene.untilUnknown('a0', graceMs + 5_000);
    await scene.within(5_000, 'its pod is marked', async () => (await scene.podReady('before')) === 'False');
    await scene.killController();
    await scene.addPod('meanwhile', 'a0', patient);
    await scene.restartController();
    const isMarked = (pod: string) => async (): Promise<boolean> => (await scene.podReady(pod)) === 'False';
    const marked = await secondsUntil(markedMs, isMarked('meanwhile'));
    measure('s until that pod was marked, after the start', marked);
    return { marked: marked !== undefined };
  },
  facts: {
    'kube-controller-manager': { marked: false },
    nlc: { marked: true },
  },
};

export const podScenarios: readonly ComparedScenario[] = [boundMeanwhile];
