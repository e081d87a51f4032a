import { allReplicas } from './all-replicas.ts';
import { apiAway } from './api-away.ts';
import { apiServer } from './api-server.ts';
import { bothReplicas } from './both-replicas.ts';
import { cable } from './cable.ts';
import { daemons } from './daemons.ts';
import { drain } from './drain.ts';
import { handBack } from './hand-back.ts';
import { kubelet } from './kubelet.ts';
import { leaderNode } from './leader-node.ts';
import { networkPolicy } from './network-policy.ts';
import { outOfService } from './out-of-service.ts';
import { pages } from './pages.ts';
import { policyObjects } from './policy-objects.ts';
import { power } from './power.ts';
import { reboot } from './reboot.ts';
import { scale } from './scale.ts';
import { serviceRules } from './service-rules.ts';
import type { Story } from './story.ts';
import { upgrade } from './upgrade.ts';

/** In the order in which they run. */
export const stories: readonly Story[] = [
  cable,
  reboot,
  power,
  kubelet,
  daemons,
  leaderNode,
  bothReplicas,
  allReplicas,
  apiAway,
  apiServer,
  drain,
  upgrade,
  handBack,
  pages,
  policyObjects,
  serviceRules,
  outOfService,
  scale,
  networkPolicy,
];
