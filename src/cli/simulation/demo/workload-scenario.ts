// The scenario of the demo with workloads: after an outage of nodes their pods run on other nodes.
import { allNodeNames, demoControllerOptions } from './cluster.ts';
import { everyNodeIsHealthy, type Expectation, expectNone, notReady, type Scene } from './scenario.ts';
import { webReplicas, type Workloads } from './workloads.ts';

const nodesLost = 3;
const { nodeEvictionRate } = demoControllerOptions;

/** The scenes in order. */
export function workloadScenario(workloads: Workloads): readonly Scene[] {
  const whileRunning = (scene: Scene): Scene => ({
    ...scene,
    expectations: scene.expectations.map((expectation) => guarded(expectation, workloads)),
  });
  return [healthy, ...[created, outage, recovery, deletion].map((scene) => scene(workloads))].map(whileRunning);
}

const healthy: Scene = {
  title: 'A healthy cluster',
  text: `${allNodeNames().length} nodes in 3 zones renew their leases every second; no pods run on them yet.`,
  act: () => {},
  expectations: [everyNodeIsHealthy],
};

/** A program that ended, or a failed request, is what is reported: nothing else follows then. */
function guarded(expectation: Expectation, workloads: Workloads): Expectation {
  return { ...expectation, missing: (world) => workloads.problem ?? expectation.missing(world) };
}

function servingElsewhere(workloads: Workloads): string | undefined {
  const serving = workloads.serving().filter(({ nodeName }) => !workloads.lost.includes(nodeName));
  return serving.length === webReplicas ? undefined : `${serving.length} serve on other nodes`;
}

function created(workloads: Workloads): Scene {
  return {
    title: `A Deployment with ${webReplicas} replicas is created`,
    text: 'kube-controller-manager makes their pods, kube-scheduler places them, hollow nodes run them.',
    act: () => workloads.create(),
    expectations: [
      {
        what: `${webReplicas} pods of the Deployment are Ready, no two on one node`,
        withinMs: 40_000,
        missing: () => {
          const serving = workloads.serving();
          const nodes = new Set(serving.map(({ nodeName }) => nodeName)).size;
          return serving.length === webReplicas && nodes === webReplicas
            ? undefined
            : `${serving.length} on ${nodes} nodes`;
        },
      },
    ],
  };
}

function outage(workloads: Workloads): Scene {
  return {
    title: `${nodesLost} nodes with pods of the Deployment become unreachable`,
    text: `The controller marks and taints them at ${nodeEvictionRate} node/s, and deletes their pods when the tolerations expire.`,
    act: () => workloads.cutOff(nodesLost),
    expectations: [
      {
        what: 'each of these nodes is Unknown and has the NoExecute taint',
        withinMs: 25_000,
        missing: ({ environment }) =>
          expectNone(
            workloads.lost.filter(
              (name) => environment.ready(name) !== 'Unknown' || !environment.isTainted(name, 'NoExecute'),
            ),
            'without',
          ),
      },
      {
        what: `the pods moved: ${webReplicas} are Ready on other nodes`,
        withinMs: 60_000,
        missing: () => servingElsewhere(workloads),
      },
      {
        what: 'the pods on the unreachable nodes are marked for deletion, and wait for their kubelets',
        withinMs: 60_000,
        missing: () => {
          const left = workloads.pods().filter(({ nodeName }) => workloads.lost.includes(nodeName));
          const count = left.filter(({ terminating }) => terminating).length;
          return count === nodesLost && left.length === nodesLost ? undefined : `${count} of ${left.length} pods`;
        },
      },
    ],
  };
}

function recovery(workloads: Workloads): Scene {
  return {
    title: 'These nodes recover',
    text: 'Their kubelets stop the pods that were deleted meanwhile.',
    act: () => workloads.reconnect(),
    expectations: [
      {
        what: 'the nodes are Ready and have no taint of the controller',
        withinMs: 25_000,
        missing: (world) =>
          expectNone(notReady(world, workloads.lost), 'not Ready') ??
          expectNone(world.environment.tainted(workloads.lost, 'NoExecute'), 'tainted') ??
          expectNone(world.environment.tainted(workloads.lost, 'NoSchedule'), 'tainted'),
      },
      {
        what: `the deleted pods are gone, and ${webReplicas} are Ready`,
        withinMs: 30_000,
        missing: () => {
          const [pods, serving] = [workloads.pods().length, workloads.serving().length];
          return pods === webReplicas && serving === webReplicas ? undefined : `${serving} of ${pods} are Ready`;
        },
      },
    ],
  };
}

function deletion(workloads: Workloads): Scene {
  return {
    title: 'The Deployment is deleted',
    text: 'The garbage collector of kube-controller-manager deletes its ReplicaSet and pods.',
    act: () => workloads.deleteDeployment(),
    expectations: [
      {
        what: 'no pod of the Deployment is left',
        withinMs: 40_000,
        missing: () => {
          const { length } = workloads.pods();
          return length === 0 ? undefined : `${length} pods`;
        },
      },
    ],
  };
}
