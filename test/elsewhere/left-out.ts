import type { Template } from '../../infra/synth.ts';

/**
 * Everything in which the deployment on the emulator differs from one on AWS:
 *
 * - Alarms on expressions of several metrics are left out: its CloudWatch knows alarms on one metric only.
 * - The runner's image is neither built nor pushed: there may be no Docker. containers.ts starts its program instead, as
 *   task definition and Dockerfile say.
 * - Its ECS sends no "Task State Change" events, and takes none from outside: containers.ts hands them to the function
 *   that the template's rule names.
 * - Its CopyObject ignores the checksum algorithm: emulator.py adds the checksum.
 * - Its APIs have host names below .localhost (localhost.mjs), and certificates of an authority made for the test.
 */

/** Docker images of an assembly's asset manifest. */
interface Assets {
  dockerImages?: Record<string, unknown>;
}

/** What is left out of the template, by logical id. Changes template and manifest. */
export const leaveOut = (template: Template, assets: Assets): string[] => {
  assets.dockerImages = {};
  const alarms = Object.entries(template.Resources).filter(
    ([, { Type, Properties }]) => Type === 'AWS::CloudWatch::Alarm' && Properties?.Metrics !== undefined,
  );
  for (const [id] of alarms) delete template.Resources[id];
  return alarms.map(([id]) => id);
};
