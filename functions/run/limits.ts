import type { PhaseName } from './run.ts';

/** How long Terraform may take, in seconds (lifecycle rule 9). Nothing that is made for a phase is good for longer. */
export const phaseSeconds: Record<PhaseName, number> = { plan: 2 * 3600, apply: 24 * 3600 };
