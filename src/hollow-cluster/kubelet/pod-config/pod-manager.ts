import type { Pod } from '../../../machinery/api/pod.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import { isMirrorPod, isStaticPod, podFullName, uidOf } from './classify-pod.ts';

/**
 * The pods that the kubelet should run, and the mirrors of its static pods on the API server (kubelet `pod.Manager`). A
 * static pod and its mirror have one full name and two uids; statuses are stored under the static pod's uid and written
 * to the mirror.
 */
export class PodManager {
  readonly #pods = new SparseMap<string, Pod>();
  readonly #podsByFullName = new SparseMap<string, Pod>();
  readonly #mirrors = new SparseMap<string, Pod>();
  readonly #mirrorsByFullName = new SparseMap<string, Pod>();
  /** By the uid of a mirror: its static pod, current or last. Kept for as long as the mirror exists. */
  readonly #shown = new Map<string, string>();

  /** Number of pods without mirrors. */
  get size(): number {
    return this.#pods.size;
  }

  /** Adds a pod or a mirror, or replaces the one with the same uid. */
  add(pod: Pod): void {
    const mirror = isMirrorPod(pod);
    (mirror ? this.#mirrors : this.#pods).set(uidOf(pod), pod);
    (mirror ? this.#mirrorsByFullName : this.#podsByFullName).set(podFullName(pod), pod);
    this.#noteShown(podFullName(pod));
  }

  /** Removes a pod or a mirror. Another pod with the same name that was added since stays. */
  remove(pod: Pod): void {
    const mirror = isMirrorPod(pod);
    (mirror ? this.#mirrors : this.#pods).delete(uidOf(pod));
    if (mirror) this.#shown.delete(uidOf(pod));
    const byFullName = mirror ? this.#mirrorsByFullName : this.#podsByFullName;
    const fullName = podFullName(pod);
    const known = byFullName.get(fullName);
    if (known !== undefined && uidOf(known) === uidOf(pod)) byFullName.delete(fullName);
  }

  /** All pods except mirrors. */
  all(): Iterable<Pod> {
    return this.#pods.values();
  }

  mirrors(): Iterable<Pod> {
    return this.#mirrors.values();
  }

  /** Does not find mirrors. */
  podByUid(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  mirrorByUid(uid: string): Pod | undefined {
    return this.#mirrors.get(uid);
  }

  /** The mirror with a static pod's name, whatever its hash; undefined for other pods. */
  mirrorOf(pod: Pod): Pod | undefined {
    return this.#mirrorsByFullName.get(podFullName(pod));
  }

  /** The static pod of a mirror; undefined for an orphan. */
  podOfMirror(mirror: Pod): Pod | undefined {
    return this.#podsByFullName.get(podFullName(mirror));
  }

  /**
   * The uid under which a pod's status is stored, for a uid from the API server. A mirror's uid maps to its static pod
   * even after that was removed from its source: until the mirror is deleted, the pod's final status can be written.
   */
  translate(uid: string): string {
    return this.#shown.get(uid) ?? uid;
  }

  /**
   * The uid of a pod on the API server: its own, or for a static pod, current or removed, its mirror's; the empty
   * string for one without a mirror, whose status cannot be written (kubelet `GetUIDTranslations`).
   */
  apiUid(uid: string): string {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return this.#mirrorThatShowed(uid) ?? uid;
    if (!isStaticPod(pod)) return uid;
    const mirror = this.mirrorOf(pod);
    return mirror === undefined ? '' : uidOf(mirror);
  }

  /** Mirrors of static pods that no longer exist: they are deleted after those have stopped. */
  orphanMirrors(): readonly Pod[] {
    return [...this.#mirrors.values()].filter((mirror) => this.podOfMirror(mirror) === undefined);
  }

  #noteShown(fullName: string): void {
    const [mirror, pod] = [this.#mirrorsByFullName.get(fullName), this.#podsByFullName.get(fullName)];
    if (mirror !== undefined && pod !== undefined) this.#shown.set(uidOf(mirror), uidOf(pod));
  }

  #mirrorThatShowed(uid: string): string | undefined {
    for (const [mirror, shown] of this.#shown) if (shown === uid) return mirror;
    return undefined;
  }
}
