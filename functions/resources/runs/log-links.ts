import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PhaseName, Run } from '#run/run.ts';

/**
 * URLs of logs, for callers with permission to read the run. The URL itself authorizes the request, because clients
 * send no token with it. It is valid for one log, until the phase's maximum duration is over; readers of the run can
 * get a new one.
 */

const hourMs = 3600_000;
const dayMs = 24 * hourMs;

type Logged = Pick<Run, 'id' | 'logSecret' | 'timeLimits'>;

const signature = ({ logSecret }: Logged, phase: PhaseName, lastDay: number): string =>
  createHmac('sha256', logSecret).update(`${phase}.${lastDay}`).digest('base64url');

/** The expiry is in whole days, so that the URL is stable while a client follows a log. */
export const logPath = (run: Logged, phase: PhaseName, now = Date.now()): string => {
  const lifeMs = Math.max(dayMs, (run.timeLimits?.[phase] ?? 0) * 1000) + hourMs;
  const lastDay = Math.floor((now + lifeMs) / dayMs);
  return `/logs/${run.id}/${phase}/${lastDay}.${signature(run, phase, lastDay)}`;
};

const form = /^(\d{1,6})\.([\w-]{43})$/;

/** @param capability the last part of the path */
export const opensLog = (run: Logged, phase: PhaseName, capability: string, now = Date.now()): boolean => {
  const [, days, mac] = form.exec(capability) ?? [];
  if (!days || !mac || Number(days) < Math.floor(now / dayMs)) return false;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(signature(run, phase, Number(days))));
};
