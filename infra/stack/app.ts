import { synthesize } from '#infra/build/synth.ts';
import { SettingsError } from '#infra/settings/settings.ts';

/** The CDK app (cdk.json): reads the settings and declares two stacks. */
try {
  await synthesize({
    outdir: process.env.CDK_OUTDIR,
    context: JSON.parse(process.env.CDK_CONTEXT_JSON ?? '{}') as Record<string, unknown>,
    validate: true,
  });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
