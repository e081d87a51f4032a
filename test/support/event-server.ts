import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { Event, EventV1 } from '../../src/machinery/api/event.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { EventApi } from '../../src/machinery/events/event-sink.ts';
import type { PatchType } from '../../src/machinery/ports/kube-writer.ts';

interface EventRequest {
  readonly verb: 'POST' | 'PATCH';
  readonly name: string;
  readonly body: unknown;
}

/** Stores events as the API server does, and fails on demand. */
export class EventServer implements EventApi {
  readonly events = new Map<string, Event>();
  readonly requests: EventRequest[] = [];
  /** The APIs through which they were written. */
  readonly resources = new Set<string>();
  /** Called before each request; a returned error is thrown before (or, with `late`, after) the request is carried out. */
  failure: (request: EventRequest) => ApiError | undefined = () => undefined;
  late = false;
  /** Requests never end, regardless of their signal (`ignores-signal`), or until it aborts. */
  hanging: 'no' | 'until-aborted' | 'ignores-signal' = 'no';

  create(resource: string, object: KubeObject, options: { readonly signal: AbortSignal }): Promise<KubeObject> {
    const name = object.metadata.name ?? '';
    this.resources.add(resource);
    return this.#serve({ verb: 'POST', name, body: object }, options.signal, () => {
      if (this.events.has(name)) throw new ApiError({ reason: 'already-exists', code: 409, message: name });
      return this.#store(object as Event);
    });
  }

  patch(
    resource: string,
    { name }: { readonly name: string },
    { type, body }: { readonly type: PatchType; readonly body: unknown },
    options: { readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    this.resources.add(resource);
    return this.#serve({ verb: 'PATCH', name, body }, options.signal, () => {
      const stored = this.events.get(name);
      if (type !== 'strategic-merge')
        throw new ApiError({ reason: 'unsupported-media-type', code: 415, message: type });
      if (stored === undefined) throw new ApiError({ reason: 'not-found', code: 404, message: name });
      return this.#store({ ...stored, ...(body as Partial<Event>) });
    });
  }

  async #serve(request: EventRequest, signal: AbortSignal, act: () => Event): Promise<Event> {
    if (signal.aborted) throw new ApiError({ reason: 'aborted', message: 'aborted' });
    this.requests.push(request);
    if (this.hanging !== 'no') return this.#hang(signal);
    const failure = this.failure(request);
    if (failure !== undefined && !this.late) throw failure;
    const stored = act();
    if (failure !== undefined) throw failure;
    return stored;
  }

  #hang(signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
      if (this.hanging === 'ignores-signal') return;
      const abort = (): void => reject(new ApiError({ reason: 'aborted', message: 'aborted' }));
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** The same, of Events in events.k8s.io/v1. */
  get newerEvents(): readonly EventV1[] {
    return [...this.events.values()] as readonly KubeObject[] as readonly EventV1[];
  }

  #store(event: Event): Event {
    this.events.set(event.metadata.name ?? '', event);
    return event;
  }
}

export function connectionLost(): ApiError {
  return new ApiError({ reason: 'unavailable', message: 'connection lost' });
}

export function answered(reason: ApiReason, code: number): ApiError {
  return new ApiError({ reason, code, message: reason });
}
