// `npm run bench:hollow-memory`: memory of an idle hollow node, and its CPU time without HTTP. The fleet runs against an
// in-memory API server and a manual clock. The memory of the API objects (a Node and a Lease each, which a fleet has to
// keep) is reported separately. Figures are printed and not checked.
// `-- --nodes=500 --events` is a smaller run, with events; `--snapshot=FILE` writes a heap snapshot of the idle fleet.
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PinoLogger } from '../../src/machinery/adapters/pino-logger.ts';
import { FleetBroadcaster } from '../../src/machinery/events/fleet-broadcaster.ts';
import { HollowFleet } from '../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { WheelClock } from '../../src/hollow-cluster/kubelet/loops/wheel-clock.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { MemoryApi } from '../support/memory-api.ts';
import { RecordingMeter, SeededRandom } from '../support/fakes.ts';

const nodes = Number(argument('nodes') ?? 3_000);
/** Long enough for the startup to settle, and for each node to renew its lease many times. */
const settleMs = Number(argument('settle-seconds') ?? 400) * 1_000;
const lookMs = 60_000;

setFlagsFromString('--expose-gc');
// Code discarded while idle would count as memory released by the nodes.
setFlagsFromString('--no-flush-bytecode');
const collect: () => void = runInNewContext('gc');

function argument(name: string): string | undefined {
  return process.argv.find((text) => text.startsWith(`--${name}=`))?.split('=')[1];
}

/** Bytes in use after a garbage collection. */
async function usedBytes(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await settled();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface World {
  readonly clock: ManualClock;
  readonly api: MemoryApi;
  readonly life: AbortController;
  readonly nodes: number;
}

function makeWorld(nodes: number): World {
  const clock = new ManualClock();
  return { clock, api: new MemoryApi(clock), life: new AbortController(), nodes };
}

/** Only the running promise refers to the fleet: when it has settled, the fleet is garbage. */
function startFleet({ clock: base, api, life, nodes }: World): Promise<unknown> {
  const logger = PinoLogger.create({ format: 'json', verbosity: 0 });
  const clock = new WheelClock({ clock: base, logger });
  const dependencies = { clock, random: new SeededRandom(1), logger, meter: new RecordingMeter(), api };
  const events = new FleetBroadcaster(dependencies);
  const recorder = (name: string) => events.recorder('kubelet', name);
  const fleet = new HollowFleet({
    ...dependencies,
    nodes: Array.from({ length: nodes }, (_, index) => ({ name: `hollow-node-${index}`, labels: {} })),
    ...(process.argv.includes('--events') ? { recorder } : {}),
  });
  return Promise.all([fleet.run(life.signal), events.run(life.signal)]);
}

function show(what: string, bytes: number): void {
  console.log(`${what}: ${(bytes / nodes / 1_024).toFixed(1)} KiB per node`);
}

/** CPU time while idle, in milliseconds per second. */
async function idleCpu({ clock, api }: World): Promise<number> {
  const before = process.cpuUsage();
  await clock.advance(lookMs);
  const { user, system } = process.cpuUsage(before);
  api.requests.length = 0;
  return (user + system) / 1_000 / (lookMs / 1_000);
}

async function end({ life, clock, api }: World, running: Promise<unknown>): Promise<void> {
  life.abort();
  await clock.advance(0);
  await running;
  api.requests.length = 0;
}

/** The first fleet of a process also pays for compiling its code. */
async function warmUp(): Promise<void> {
  const world = makeWorld(5);
  const running = startFleet(world);
  await world.clock.advance(settleMs);
  await end(world, running);
}

async function measure(): Promise<void> {
  await warmUp();
  const world = makeWorld(nodes);
  const empty = await usedBytes();
  const running = startFleet(world);
  await world.clock.advance(settleMs);
  world.api.requests.length = 0;
  const full = await usedBytes();
  const { rss } = process.memoryUsage();
  const snapshot = argument('snapshot');
  if (snapshot !== undefined) writeHeapSnapshot(snapshot);
  const cpuMs = (await idleCpu(world)) - (await idleCpu(makeWorld(0)));
  await end(world, running);
  const left = await usedBytes();
  if (world.api.all('nodes').length !== nodes) throw new Error('not all nodes are registered');
  show('with its API objects', full - empty);
  show('its API objects', left - empty);
  show('without them', full - left);
  console.log(`${nodes} nodes: RSS ${(rss / 2 ** 20).toFixed(0)} MiB, ${cpuMs.toFixed(1)} ms of CPU per second`);
}

await measure();
