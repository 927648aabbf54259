import { synthesizedApplication } from '#infra/local/commands/platform.ts';
import type { Template } from '#infra/local/host/template.ts';

/** An {@link impatient} platform detects missing heartbeats after this long. */
export const missedSeconds = 10;

/** The unmodified application, except for a shorter heartbeat timeout. */
export const impatient = async () => {
  const application = await synthesizedApplication();
  const text = JSON.stringify(application.template);
  const shorter = text
    .replaceAll(/(\\"HeartbeatSeconds\\":)60\b/g, (_, name) => `${name}${missedSeconds}`)
    .replaceAll('"HEARTBEAT_SECONDS":"5"', '"HEARTBEAT_SECONDS":"1"');
  if (shorter === text) throw new Error('the template has no such heartbeat');
  return { ...application, template: JSON.parse(shorter) as Template };
};
