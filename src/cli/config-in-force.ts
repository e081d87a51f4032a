import type { ControllerOptions, PodGcOptions } from '../controller/options.ts';
import type { ControllerConfig } from './controller-config.ts';

/** The settings in force. They are exchanged as a whole, between two turns, so nobody sees half of a change. */
export class ConfigInForce {
  /** Always the same object, showing what is in force: for whoever reads it at each decision. */
  readonly controller: ControllerOptions;
  /** As {@link controller}. */
  readonly podGc: PodGcOptions;
  #config: ControllerConfig;

  constructor(config: ControllerConfig) {
    this.#config = config;
    this.controller = { ...config.controller };
    this.podGc = { ...config.podGc };
  }

  get config(): ControllerConfig {
    return this.#config;
  }

  adopt(config: ControllerConfig): void {
    this.#config = config;
    Object.assign(this.controller, config.controller);
    Object.assign(this.podGc, config.podGc);
  }
}
