import { allReplicas } from './all-replicas.ts';
import { apiAway } from './api-away.ts';
import { apiServer } from './api-server.ts';
import { bothReplicas } from './both-replicas.ts';
import { cable } from './cable.ts';
import { completedPods } from './completed-pods.ts';
import { container } from './container.ts';
import { controlPlane } from './control-plane.ts';
import { daemons } from './daemons.ts';
import { earlyDetection } from './early-detection.ts';
import { earlyWarning } from './early-warning.ts';
import { detect } from './detect.ts';
import { detectorOnly } from './detector-only.ts';
import { drain, drainOutage } from './drain.ts';
import { fenced } from './fenced.ts';
import { handBack, handBackOutage } from './hand-back.ts';
import { keptPods } from './kept-pods.ts';
import { kubelet } from './kubelet.ts';
import { leaderNode } from './leader-node.ts';
import { manifests } from './manifests.ts';
import { migration } from './migration.ts';
import { networkPolicy } from './network-policy.ts';
import { notReadyPods } from './not-ready-pods.ts';
import { outOfService } from './out-of-service.ts';
import { overflow } from './overflow.ts';
import { pages } from './pages.ts';
import { policyObjects } from './policy-objects.ts';
import { power } from './power.ts';
import { reboot } from './reboot.ts';
import { scale } from './scale.ts';
import { serviceRules } from './service-rules.ts';
import { standbyNode } from './standby-node.ts';
import { shutdown } from './shutdown.ts';
import { staticPod } from './static-pod.ts';
import type { Story } from './story.ts';
import { stuckPods } from './stuck-pods.ts';
import { upgrade, upgradeOutage } from './upgrade.ts';
import { window } from './window.ts';

/** In the order in which they run. */
export const stories: readonly Story[] = [
  cable,
  reboot,
  power,
  kubelet,
  daemons,
  leaderNode,
  standbyNode,
  bothReplicas,
  allReplicas,
  apiAway,
  apiServer,
  drain,
  drainOutage,
  upgrade,
  upgradeOutage,
  handBack,
  handBackOutage,
  migration,
  detectorOnly,
  manifests,
  staticPod,
  controlPlane,
  container,
  pages,
  policyObjects,
  serviceRules,
  outOfService,
  fenced,
  shutdown,
  detect,
  window,
  earlyWarning,
  earlyDetection,
  keptPods,
  notReadyPods,
  overflow,
  stuckPods,
  completedPods,
  scale,
  networkPolicy,
];
