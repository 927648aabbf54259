import type { TestProject } from 'vitest/node';
import { provideOpa } from '#infra/local/commands/opa.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the `opa` binary. */
    opa: string;
  }
}

/** Tests of policies use the real engine. If it is unavailable, they all fail with the reason. */
export default async (project: TestProject) => {
  process.env.STEPFORM_CACHE ??= machineCache;
  project.provide('opa', await provideOpa((text) => console.error(text)));
};
