/** How people start the command line: as they did this time (functions/clients/cli/run-program.ts), or in a checkout. */
export const programName = process.env.STEPFORM_PROGRAM || 'npx stepform';
