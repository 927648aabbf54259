import type { PhaseName } from '#run/run.ts';

/** Variables with invalid values; the message is for the users who set them. */
export class MisconfiguredError extends Error {
  override name = 'MisconfiguredError';
}

export interface Scope {
  /** The environment variables of the run, by name. */
  variables: ReadonlyMap<string, string>;
  /** As in the variables' names, e.g. `AWS`. */
  provider: string;
  /** The setting that requests the credentials, e.g. `PROVIDER_AUTH`. */
  asking: string;
  tag?: string;
  phase: PhaseName;
}

/**
 * The settings of one configuration: `TFC_AWS_RUN_ROLE_ARN_<tag>`, or for all configurations
 * `TFC_DEFAULT_AWS_RUN_ROLE_ARN`.
 */
export class Settings {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  get tag(): { tag?: string } {
    const { tag } = this.#scope;
    return tag === undefined ? {} : { tag };
  }

  /** The variable that users would set. */
  nameOf(setting: string): string {
    const { provider, tag } = this.#scope;
    return `TFC_${provider}_${setting}${tag === undefined ? '' : `_${tag}`}`;
  }

  /** An empty variable counts as missing. */
  find(setting: string): string | undefined {
    return this.#own(setting) || this.#shared(setting) || undefined;
  }

  /** @param description the required value, for error messages: `the address of Vault` */
  require(setting: string, description: string): string {
    const value = this.find(setting);
    if (value === undefined) throw this.#missing(`${this.nameOf(setting)} is not set: set it to ${description}.`);
    return value;
  }

  /**
   * The phase's own setting, e.g. `PLAN_ROLE_ARN`, else the run's, `RUN_ROLE_ARN`. Fails as well if the other phase
   * has neither, so that users learn it before they confirm the plan.
   */
  ofPhase(setting: string, description: string): { value: string; variable: string } {
    const { phase } = this.#scope;
    const settings = { plan: this.#first(['PLAN', 'RUN'], setting), apply: this.#first(['APPLY', 'RUN'], setting) };
    for (const name of ['plan', 'apply'] as const) {
      if (settings[name]) continue;
      const own = this.nameOf(`${name.toUpperCase()}_${setting}`);
      throw this.#missing(
        `${name === 'plan' ? 'a plan' : 'an apply'} has no ${description}: set ${this.nameOf(`RUN_${setting}`)}, or ${own} for this phase alone.`,
      );
    }
    return settings[phase] as { value: string; variable: string };
  }

  wrong(variable: string, value: string, must: string): MisconfiguredError {
    return new MisconfiguredError(
      `The variable ${variable} is ${JSON.stringify(value.slice(0, 200))}: it must ${must}.`,
    );
  }

  #missing(description: string): MisconfiguredError {
    return new MisconfiguredError(`${this.nameOf(this.#scope.asking)} is "true", but ${description}`);
  }

  /** The setting of this configuration takes precedence over the default of all configurations. */
  #first(prefixes: string[], setting: string): { value: string; variable: string } | undefined {
    const { provider } = this.#scope;
    for (const prefix of prefixes) {
      const value = this.#own(`${prefix}_${setting}`);
      if (value) return { value, variable: this.nameOf(`${prefix}_${setting}`) };
    }
    for (const prefix of prefixes) {
      const value = this.#shared(`${prefix}_${setting}`);
      if (value) return { value, variable: `TFC_DEFAULT_${provider}_${prefix}_${setting}` };
    }
    return undefined;
  }

  #own(setting: string): string | undefined {
    return this.#scope.variables.get(this.nameOf(setting))?.trim();
  }

  #shared(setting: string): string | undefined {
    return this.#scope.variables.get(`TFC_DEFAULT_${this.#scope.provider}_${setting}`)?.trim();
  }
}
