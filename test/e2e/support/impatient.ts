import { synthesizedApplication } from '#infra/local/commands/platform.ts';
import type { Template } from '#infra/local/host/template.ts';

/** So soon an {@link impatient} platform notices that heartbeats are missing. */
export const missedSeconds = 10;

/** The application as it is, but for the seconds in which a missed heartbeat is noticed. */
export const impatient = async () => {
  const application = await synthesizedApplication();
  const text = JSON.stringify(application.template);
  const shorter = text
    .replaceAll(/(\\"HeartbeatSeconds\\":)60\b/g, (_, name) => `${name}${missedSeconds}`)
    .replaceAll('"HEARTBEAT_SECONDS":"5"', '"HEARTBEAT_SECONDS":"1"');
  if (shorter === text) throw new Error('the template has no such heartbeat');
  return { ...application, template: JSON.parse(shorter) as Template };
};
