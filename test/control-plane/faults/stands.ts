// A pool of control planes for scenarios that run concurrently. Each scenario uses one exclusively: two controllers on one
// cluster would both act on every node.
import { readFileSync } from 'node:fs';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { Scene, type SceneOptions } from './scene.ts';

export class Stands implements AsyncDisposable {
  readonly #planes: readonly ControlPlane[];
  readonly #free: ControlPlane[];
  readonly #waiting: ((plane: ControlPlane) => void)[] = [];

  private constructor(planes: readonly ControlPlane[]) {
    this.#planes = planes;
    this.#free = [...planes];
  }

  static async start(count: number): Promise<Stands> {
    return new Stands(await Promise.all(Array.from({ length: count }, () => startControlPlane())));
  }

  /** Runs with exclusive use of a control plane whose cluster is empty before and after. */
  async use<T>(options: SceneOptions, act: (scene: Scene) => Promise<T>): Promise<T> {
    const plane = this.#free.pop() ?? (await new Promise<ControlPlane>((resolve) => this.#waiting.push(resolve)));
    try {
      await using scene = await Scene.make(plane, readFileSync(plane.caFile, 'utf8'), options);
      return await act(scene);
    } finally {
      this.#release(plane);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#planes.map((plane) => plane.stop()));
  }

  #release(plane: ControlPlane): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(plane);
    else next(plane);
  }
}
