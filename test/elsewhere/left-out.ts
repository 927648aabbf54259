import type { Template } from '#infra/build/synth.ts';

/**
 * Everything in which the deployment on the emulator differs from one on AWS:
 *
 * - Alarms on expressions of several metrics are left out: its CloudWatch knows alarms on one metric only.
 * - Runners have a public image (deploy.ts), because there may be no Docker, and containers.ts starts a process in place of a
 *   container, as the task definition says.
 * - Its ECS sends no "Task State Change" events, and takes none from outside: containers.ts hands them to the function
 *   that the template's rule names.
 * - Its CopyObject ignores the checksum algorithm: emulator.py adds the checksum.
 * - It ignores the OpenAPI document and the deployments of an HTTP API, and does not put stage variables into the URI
 *   of an integration: routes and integrations become resources, which name the functions (openapi.ts).
 * - Its IAM knows only the cluster of ECS calls, and no resource of SendTask calls: emulator.py adds the resources and
 *   the condition key that AWS documents. Its simulations judge the first resource only: emulator.py asks for each.
 * - Its APIs have host names below .localhost (localhost.mjs), and certificates of an authority made for the test.
 */

/** Logical ids of the resources that are removed from the template. Changes it. */
export const leaveOut = (template: Template): string[] => {
  const alarms = Object.entries(template.Resources).filter(
    ([, { Type, Properties }]) => Type === 'AWS::CloudWatch::Alarm' && Properties?.Metrics !== undefined,
  );
  for (const [id] of alarms) delete template.Resources[id];
  return alarms.map(([id]) => id);
};
