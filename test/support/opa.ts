import type { TestProject } from 'vitest/node';
import { provideOpa } from '#infra/local/commands/opa.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the `opa` binary. */
    opa: string;
  }
}

/** Tests of policies use the real engine. A machine that cannot have one fails them all, saying why. */
export default async (project: TestProject) => {
  process.env.STEPFORM_CACHE ??= machineCache;
  project.provide('opa', await provideOpa((text) => console.error(text)));
};
