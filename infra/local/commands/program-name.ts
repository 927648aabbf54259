/**
 * How users start the command line: as they started this process (functions/clients/cli/run-program.ts), otherwise as
 * in a checkout.
 */
export const programName = process.env.STEPFORM_PROGRAM || 'npx stepform';
