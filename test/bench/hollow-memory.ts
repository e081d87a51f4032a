// `npm run bench:hollow-memory`: what an idle hollow node takes of the process's memory, and of its CPU without what HTTP
// costs. The fleet lives against an API server's memory and a clock that is moved by hand. What the API objects take
// (a Node and a Lease each, which a fleet has to keep) is told apart. Figures are printed and never judged.
// `-- --nodes=500 --events` is a smaller one, with events told; `--snapshot=FILE` writes a heap snapshot of the idle fleet.
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PinoLogger } from '../../src/adapters/pino-logger.ts';
import { FleetBroadcaster } from '../../src/events/fleet-broadcaster.ts';
import { HollowFleet } from '../../src/kubelet/fleet.ts';
import { WheelClock } from '../../src/kubelet/wheel-clock.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { MemoryApi } from '../support/memory-api.ts';
import { KeepingMeter, SeededRandom } from '../support/quiet.ts';

const nodes = Number(argument('nodes') ?? 3_000);
/** Long enough for everything that a start leads to, and for each node to have renewed its lease many times. */
const settleMs = Number(argument('settle-seconds') ?? 400) * 1_000;
const lookMs = 60_000;

setFlagsFromString('--expose-gc');
// Code that is thrown away while nobody looks would count as memory that the nodes gave back.
setFlagsFromString('--no-flush-bytecode');
const collect: () => void = runInNewContext('gc');

function argument(name: string): string | undefined {
  return process.argv.find((text) => text.startsWith(`--${name}=`))?.split('=')[1];
}

/** Bytes that are in use when all that is garbage is gone. */
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

/** The fleet is known to nobody but the running promise: when that has settled, it is garbage. */
function startFleet({ clock: base, api, life, nodes }: World): Promise<unknown> {
  const logger = PinoLogger.create({ format: 'json', verbosity: 0 });
  const clock = new WheelClock({ clock: base, logger });
  const means = { clock, random: new SeededRandom(1), logger, meter: new KeepingMeter(), api };
  const events = new FleetBroadcaster(means);
  const recorder = (name: string) => events.recorder('kubelet', name);
  const fleet = new HollowFleet({
    ...means,
    nodes: Array.from({ length: nodes }, (_, index) => ({ name: `hollow-node-${index}`, labels: {} })),
    ...(process.argv.includes('--events') ? { recorder } : {}),
  });
  return Promise.all([fleet.run(life.signal), events.run(life.signal)]);
}

function show(what: string, bytes: number): void {
  console.log(`${what}: ${(bytes / nodes / 1_024).toFixed(1)} KiB a node`);
}

/** Processor time of a while of idling, as milliseconds a second. */
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

/** The first fleet of a process also pays for the code that it runs. */
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
  if (world.api.all('nodes').length !== nodes) throw new Error('not every node was registered');
  show('with its API objects', full - empty);
  show('its API objects', left - empty);
  show('without them', full - left);
  console.log(`${nodes} nodes: RSS ${(rss / 2 ** 20).toFixed(0)} MiB, ${cpuMs.toFixed(1)} ms of CPU a second`);
}

await measure();
