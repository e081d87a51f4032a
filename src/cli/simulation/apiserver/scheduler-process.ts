// The scheduler stand-in with its clients: it uses the API as kube-scheduler does.
import { HttpKubeApi, type HttpKubeApiOptions } from '../../../machinery/kube-client/kube-api.ts';
import { PromMeter } from '../../../machinery/adapters/prom-meter.ts';
import { EventBroadcaster } from '../../../machinery/events/event-broadcaster.ts';
import { nodeInformer, podInformer } from '../../../hollow-cluster/kubelet/fleet/fleet-informers.ts';
import { Scheduler, schedulerName } from '../../../hollow-cluster/scheduler/scheduler.ts';
import { userAgent } from '../../io/version.ts';

const requestLimits = { qps: 500, burst: 1_000 } as const;
const eventLimits = { qps: 100, burst: 200 } as const;
const flushMs = 500;

type SchedulerProcessOptions = Required<Pick<HttpKubeApiOptions, 'connection' | 'clock' | 'random' | 'logger'>>;

/** Schedules pods until the signal aborts; then all its connections are closed. */
export async function runScheduler(options: SchedulerProcessOptions, signal: AbortSignal): Promise<void> {
  const { connection, clock, random } = options;
  const logger = options.logger.child({ component: schedulerName });
  const meter = new PromMeter();
  const ambient = { clock, random, logger, meter };
  const client = { connection, ...ambient, userAgent: userAgent('scheduler'), fieldManager: 'nlc-scheduler' };
  const api = new HttpKubeApi({ ...client, ...requestLimits });
  const eventsApi = new HttpKubeApi({ ...client, ...eventLimits });
  const events = new EventBroadcaster({ ...ambient, api: eventsApi });
  const informing = { ...ambient, api };
  const [nodes, pods] = [nodeInformer(informing), podInformer(informing)];
  const recorder = events.recorder(schedulerName);
  const scheduler = new Scheduler({ nodes, pods, api, recorder, clock, random, logger });
  try {
    await Promise.all([nodes.run(signal), pods.run(signal), events.run(signal), scheduler.run(signal)]);
    await events.flush(flushMs);
  } finally {
    await Promise.all([api.close(), eventsApi.close()]);
  }
}
